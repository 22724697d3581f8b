#!/bin/sh
# Makes the certificates of the machines, with openssl 3:
#   make-certificates.sh FOLDER VIRTUAL_ADDRESS one=ADDRESS two=ADDRESS three=ADDRESS
# FOLDER gets ca.pem and ca.key, the authority, which a second run uses again, and for each machine a folder
# with ca.pem, machine.pem and machine.pem.key. A certificate names its machine, the addresses at which it
# answers, and 127.0.0.1. Keep ca.key away from the machines.
set -eu
folder=$1 virtual=$2
shift 2
umask 077
mkdir -p -- "$folder"
cd -- "$folder"
key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
# shellcheck disable=SC2086
[ -e ca.key ] || openssl req -x509 $key -days 3650 -subj "/CN=Machines of Switchyard" -keyout ca.key -out ca.pem
for machine in "$@"; do
  name=${machine%%=*} address=${machine#*=}
  mkdir -p -- "$name"
  # shellcheck disable=SC2086
  openssl req $key -subj "/CN=$name" -keyout "$name/machine.pem.key" -out "$name/machine.csr"
  cat >"$name/extensions" <<END
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectAltName = DNS:$name, IP:$address, IP:$virtual, IP:127.0.0.1
END
  openssl x509 -req -in "$name/machine.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 825 \
    -extfile "$name/extensions" -out "$name/machine.pem"
  rm -- "$name/machine.csr" "$name/extensions"
  cp -- ca.pem "$name/ca.pem"
  chmod 0644 -- "$name/machine.pem" "$name/ca.pem"
done
