# The command `forelock` in an image of its own; docker-compose.yml shows how it is used.
#
# Each command can be tried without Docker, on Debian 12, from the repository's root.

FROM debian:12-slim AS build
WORKDIR /source
COPY scripts/lib.sh scripts/setup.sh scripts/
RUN scripts/setup.sh --build
COPY . .
RUN scripts/zookeeper_client.sh \
 && cmake --preset package -DCMAKE_INSTALL_PREFIX=/usr/local \
 && cmake --build --preset package \
 && DESTDIR=/installed cmake --install build/package --strip

FROM debian:12-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends \
      ca-certificates libssl3 libyaml-cpp0.7 librdkafka1 libsqlite3-0 libspdlog1.10 libcurl4 \
      libprometheus-cpp-core1.0 libsasl2-modules libsasl2-modules-gssapi-mit \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /installed /
# The outbox of dead letters is all that it keeps.
# Secrets are mounted as files of root that the group may read: its number is fixed, as the user's is.
RUN ldconfig \
 && groupadd --system --gid 10001 forelock \
 && useradd --system --uid 10001 --gid 10001 --home-dir /var/lib/forelock --create-home forelock
USER forelock
WORKDIR /var/lib/forelock
VOLUME /var/lib/forelock
ENV XDG_STATE_HOME=/var/lib
HEALTHCHECK --interval=30s --timeout=20s --start-period=30s --retries=3 CMD ["forelock", "-q", "doctor", "--quick"]
ENTRYPOINT ["forelock"]
CMD ["doctor"]
