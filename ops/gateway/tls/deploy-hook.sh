#!/bin/sh
# Copies a renewed certificate into the folder of the gateway, and makes nginx load it. For certbot, put a
# link to this file into /etc/letsencrypt/renewal-hooks/deploy. Another ACME client runs
# `deploy-hook.sh LINEAGE`, where LINEAGE is the folder of fullchain.pem and privkey.pem. The container cannot
# mount that folder itself, because only root can read it.
#
# TLS_FOLDER  where the copies go, as in .env        (default: certificates beside docker-compose.yml)
# TLS_OWNER   the user of nginx in the container     (default: 101)
# RELOAD      the command that makes nginx load them (default: with docker compose)
set -eu
checkout=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")/../../.." && pwd)
lineage=${1:-${RENEWED_LINEAGE:?name the folder of the certificate}}
folder=${TLS_FOLDER:-$checkout/certificates}
umask 077
mkdir -p -- "$folder"
chmod 0755 -- "$folder"
for name in fullchain.pem privkey.pem; do
  cp -L -- "$lineage/$name" "$folder/$name.new"
  chown "${TLS_OWNER:-101}" -- "$folder/$name.new"
  chmod 0400 -- "$folder/$name.new"
done
for name in fullchain.pem privkey.pem; do mv -f -- "$folder/$name.new" "$folder/$name"; done
if [ -n "${RELOAD:-}" ]; then
  sh -c "$RELOAD"
else
  docker compose --project-directory "$checkout" kill --signal HUP gateway
fi
