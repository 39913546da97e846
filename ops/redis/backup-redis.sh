#!/bin/sh
# Saves a running Redis into BACKUP_DIR (/backup), named by the time. The password is in REDISCLI_AUTH.
set -eu
file=${BACKUP_DIR:-/backup}/parley-$(date -u +%Y%m%dT%H%M%SZ).rdb
umask 077
redis-cli -h "${REDIS_HOST:-127.0.0.1}" -p "${REDIS_PORT:-6379}" --rdb "$file.part" >&2
redis-check-rdb "$file.part" >/dev/null
mv "$file.part" "$file"
echo "$file"
