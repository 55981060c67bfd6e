#!/bin/sh
# The programs that tests and benchmarks use and pip cannot install: a PostgreSQL server, a browser, a proxy with a
# certificate, and what workers in other languages need. If all are here, this says nothing. If some are not, it installs them where it
# may (apt-get, as root or by sudo without a password), and otherwise says which command to run, and fails.
set -eu

missing() { # the packages, by Debian's names
  for place in /usr/lib/postgresql/*/bin /usr/pgsql/bin /usr/sbin; do
    PATH=$PATH:$place
  done
  command -v initdb > /dev/null || printf ' postgresql'
  command -v "${CHROMIUM:-chromium}" > /dev/null || printf ' chromium'
  command -v nginx > /dev/null || printf ' nginx'
  command -v openssl > /dev/null || printf ' openssl'
  command -v node > /dev/null || printf ' nodejs'
  command -v curl > /dev/null || printf ' curl'
  command -v jq > /dev/null || printf ' jq'
}

stop() {
  printf '%s\n' "$@" >&2
  exit 1
}

wanted=$(missing)
[ -n "$wanted" ] || exit 0

install="apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq$wanted"
if ! command -v apt-get > /dev/null; then
  stop "Tests and benchmarks need programs that are missing (Debian's names):$wanted." \
    "There is no apt-get here. Install them with this system's package manager, then run make again."
elif [ "$(id -u)" = 0 ]; then
  sudo=
elif sudo -n true 2> /dev/null; then
  sudo=sudo
else
  stop "Tests and benchmarks need programs that are missing:$wanted." \
    "Only root may install them. Run this command, then make again:" \
    "  sudo sh -c '$install'"
fi

echo "installing what tests and benchmarks need:$wanted" >&2
$sudo sh -c "$install" || stop "apt-get failed; what it said is above. Tests and benchmarks need:$wanted."
wanted=$(missing)
[ -z "$wanted" ] || stop "Installed, but still not found on the PATH:$wanted."
