# The command `forelock` in an image of its own; docker-compose.yml shows how it is used.
#
# It compiles the command; with --build-arg COMMAND=packaged it takes the one that scripts/package.sh has made on this
# machine. Each command can be tried without Docker, on Debian 12, from the repository's root. scripts/evidence.sh packages
# builds it with buildah, and tries it.

ARG BASE=debian:12-slim
FROM ${BASE} AS build
ARG COMMAND=compiled
# ccache, where a cache is mounted at /root/.cache/ccache.
ARG CMAKE_CXX_COMPILER_LAUNCHER=
WORKDIR /source
COPY scripts/lib.sh scripts/setup.sh scripts/
RUN if [ "$COMMAND" = compiled ]; then scripts/setup.sh --build; else apt-get update; fi \
 && apt-get install --yes --no-install-recommends openssl
COPY . .
RUN if [ "$COMMAND" = compiled ]; then scripts/zookeeper_client.sh \
 && cmake --preset package && cmake --build --preset package --target forelock_cli \
 && install -D --strip build/package/bin/forelock /built/usr/bin/forelock; \
    else dpkg-deb --extract build/packages/forelock_*.deb /built; fi
RUN scripts/image_root.sh /image /built/usr/bin/forelock

# Nothing but the command, what it needs, and a shell: scripts/image_root.sh.
FROM scratch
COPY --from=build /image /
ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
# By its number: secrets are mounted as files of root that the group may read, and Kubernetes sees that it is not root.
USER 10001:10001
WORKDIR /var/lib/forelock
VOLUME /var/lib/forelock
ENV XDG_STATE_HOME=/var/lib
HEALTHCHECK --interval=30s --timeout=20s --start-period=30s --retries=3 CMD ["forelock", "-q", "doctor", "--quick"]
ENTRYPOINT ["forelock"]
CMD ["doctor"]
