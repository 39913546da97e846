#!/bin/sh
# Puts a backup in place of the data in REDIS_DATA_DIR (/data): restore-redis.sh FILE. Parley and Redis must be stopped.
# The former data are kept beside the new ones, in before-restore, until the next restore.
set -eu
file=${BACKUP_DIR:-/backup}/${1:?name the file of the backup}
data=${REDIS_DATA_DIR:-/data}
socket=$data/restore.sock
if redis-cli -h "${REDIS_HOST:-127.0.0.1}" -p "${REDIS_PORT:-6379}" ping >/dev/null 2>&1; then
  echo 'Redis is running. Stop Parley and Redis first.' >&2
  exit 1
fi
redis-check-rdb "$file" >/dev/null || { echo "$file is not a complete backup." >&2; exit 1; }
unset REDISCLI_AUTH

rm -rf "$data/before-restore"
mkdir "$data/before-restore"
for name in appendonlydir dump.rdb; do
  if [ -e "$data/$name" ]; then mv "$data/$name" "$data/before-restore/"; fi
done
cp "$file" "$data/dump.rdb"
# Redis 7 ignores dump.rdb if it starts with an append-only file.
redis-server --dir "$data" --port 0 --unixsocket "$socket" --save '' --appendonly no --loglevel warning >&2 &
cli() { redis-cli -s "$socket" "$@"; }
until cli ping 2>/dev/null | grep -q PONG; do sleep 0.2; done
cli config set appendonly yes >/dev/null
while cli info persistence | grep -Eq '^aof_rewrite_(in_progress|scheduled):1'; do sleep 0.2; done
if ! cli info persistence | grep -q '^aof_last_bgrewrite_status:ok'; then
  echo 'Redis could not write its append-only file.' >&2
  cli shutdown nosave || true
  exit 1
fi
echo "$(cli dbsize) keys were restored. Start Redis and Parley with the SECRET_KEY of the backup."
cli shutdown nosave >/dev/null 2>&1 || true
wait
