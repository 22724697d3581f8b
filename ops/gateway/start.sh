#!/bin/sh
# Starts nginx with the configuration of one folder ($1) and its temporary files in another ($2).
# TRUSTED_PROXIES lists addresses and networks of proxies, separated by commas. nginx accepts the client's
# address only from these proxies.
set -eu
# Reads the container's name server, because its address differs between Docker and podman.
awk '$1 == "nameserver" { print "resolver " ($2 ~ /:/ ? "[" $2 "]" : $2) " valid=5s ipv6=off;"; exit }' /etc/resolv.conf >"$2/resolver.conf"
for proxy in $(echo "${TRUSTED_PROXIES:-}" | tr ',' ' '); do
  case $proxy in
    *[!0-9A-Fa-f.:/]*)
      echo "TRUSTED_PROXIES: $proxy is neither an address nor a network" >&2
      exit 1
      ;;
  esac
  echo "set_real_ip_from $proxy;"
done >"$2/trusted-proxies.conf"
exec "${NGINX:-nginx}" -p "$2/" -c "$1/nginx.conf" -e stderr
