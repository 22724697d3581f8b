#!/bin/sh
# Starts nginx with the files of a folder ($1) and its own files in another ($2). TRUSTED_PROXIES has addresses and networks of
# proxies, separated by commas, which are believed about the addresses of their clients. Unset: nobody is.
set -eu
# The name server of a container: Docker and podman have it at different addresses.
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
