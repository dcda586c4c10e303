#!/usr/bin/env bash
# For docker-compose.yml: an authority of its own, a certificate for the server and one for its clients, in PEM:
# compose-certificates.sh FOLDER. What is there already stays. Not for production: the authority's key lies beside them.
set -euo pipefail
cd -- "$1"
[[ ! -e client.pem ]] || exit 0
umask 077
openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj "/CN=Forelock's authority" -keyout ca.key -out ca.pem \
  -addext keyUsage=critical,keyCertSign,cRLSign
# signed NAME SUBJECT NAMES: NAME.pem and NAME.key
signed() {
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$2" -keyout "$1.key" -out "$1.csr"
  printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$3" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 365 -extfile "$1.ext" -out "$1.new"
  rm "$1.csr" "$1.ext"
}
signed server zookeeper-tls DNS:zookeeper-tls,DNS:localhost,IP:127.0.0.1
cat server.new server.key >server.pem # as ZooKeeper reads it
signed client forelock DNS:localhost,IP:127.0.0.1
mv client.new client.pem
rm server.new server.key
chmod 0644 ca.pem client.pem
# Of the users that the images run as.
chown 1000:1000 server.pem
chown 10001:10001 client.key
