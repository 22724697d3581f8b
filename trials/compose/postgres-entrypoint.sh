#!/bin/sh
# Like the entry point of the official image: creates the database in an empty volume, then runs the
# arguments.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p -m 0700 "$PGDATA"
  initdb --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
  echo "unix_socket_directories = '/run/postgresql'" >>"$PGDATA/postgresql.conf"
  pg_ctl -w -o "-c listen_addresses=''" start
  createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -w -m fast stop
fi
exec "$@"
