#!/bin/sh
# Proves that a backup can be restored: into a database or a server of its own, which goes again, with the release and the secrets of this machine.
# Nothing is started and nothing is sent. See docs/operations/recover.md. Ends with status 1 when anything is missing or does not fit.
set -eu
umask 077

backups=${1:?"usage: restore-drill.sh FOLDER|pgbackrest:STANZA, a backup, the folder of all of them, or what pgBackRest has"}
backup=$backups
cd "$(dirname "$0")/.."
began=$(date +%s)
names=$(mktemp -d)
ask() { psql -X -v ON_ERROR_STOP=1 -Atq -d "$database" -c "$1"; }
clear() { :; }
finish() {
  code=$?
  rm -r "$names"
  clear || code=1
  [ "$code" -eq 0 ] || echo "FAILED: $backup could not be restored as it is" >&2
  exit "$code"
}
trap finish EXIT

restore_dump() {
  server=${DRILL_DATABASE_URL:?"DRILL_DATABASE_URL is not set: a server, other than that of the service, where a database may be created"}
  scratch=fernpost_restore_drill
  # The same server and settings, another database.
  database=$(printf '%s' "$server" | sed "s#^\([a-z]*://[^/?]*\)[^?]*#\1/$scratch#")
  if [ ! -f "$backup/fernpost.dump" ]; then
    name=$(ls "$backups" | grep -E '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z$' | tail -n 1)
    [ -n "$name" ] || { echo "There is no backup in $backups" >&2; exit 1; }
    backup=$backups/$name
  fi
  # It is dropped in the end, so it must not be there before.
  psql -X -v ON_ERROR_STOP=1 -q -d "$server" -c "create database $scratch"
  clear() { psql -X -q -d "$server" -c "drop database if exists $scratch with (force)"; }
  pg_restore --no-owner --exit-on-error --dbname="$database" "$backup/fernpost.dump"
}

# The repository and the data belong to the user of Postgres, which runs as nobody else.
as_postgres() {
  if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

restore_pgbackrest() {
  place=$(as_postgres mktemp -d "${DRILL_FOLDER:-/var/tmp}/fernpost-drill.XXXXXX")
  data=$place/data
  control() { as_postgres "${DRILL_POSTGRES_BIN:-/usr/lib/postgresql/$(cat "$data/PG_VERSION")/bin}/pg_ctl" -s -D "$data" "$@"; }
  clear() {
    [ ! -f "$data/postmaster.pid" ] || control -m immediate stop
    as_postgres rm -r "$place"
  }
  # Up to the end of the archive, into which the copy must write nothing.
  as_postgres pgbackrest --stanza="${backups#pgbackrest:}" --pg1-path="$data" --tablespace-map-all="$place/tablespaces" --archive-mode=off --log-level-console=warn restore
  # Debian keeps these files elsewhere, and those of the service name a port, certificates and libraries that the copy must not need.
  as_postgres sh -c 'printf "%s\n" "local all all trust" "host all all 127.0.0.1/32 scram-sha-256" >"$1/pg_hba.conf"; : >"$1/postgresql.conf"' sh "$place"
  # A standby that answers would insist on as many connections as the service has.
  port=${DRILL_PORT:-54329}
  settings="-c config_file=$place/postgresql.conf -c hba_file=$place/pg_hba.conf -c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories=$place"
  control -W -l "$place/log" -o "$settings -c hot_standby=off -c ssl=off -c shared_preload_libraries=" start
  # It takes nobody until it has played the archive, however long that is.
  until pg_isready -q -h "$place" -p "$port"; do
    sleep 1
    control status >"$names/status" || { as_postgres tail -n 5 "$place/log" >&2; exit 1; }
  done
  role=${PGUSER:-postgres}
  password=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
  database="postgres://$role:$password@127.0.0.1:$port/${PGDATABASE:-fernpost}"
  echo "set password_encryption = 'scram-sha-256'; alter role \"$role\" password '$password'" | psql -X -q -v ON_ERROR_STOP=1 -h "$place" -p "$port" -U "$role" -d postgres
}

case $backups in
  pgbackrest:*) restore_pgbackrest ;;
  *) restore_dump ;;
esac
restored=$(date +%s)
echo "$backup was restored in $((restored - began)) s"
ask "select 'Projects: ' || (select count(*) from projects) || ', contacts: ' || (select count(*) from contacts) || ', mails: '
  || (select count(*) from emails) || '; the last mail was accepted at '
  || coalesce((select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') from emails order by id desc limit 1), 'no time')"

DATABASE_URL=$database DIRECT_DATABASE_URL='' npm run --silent migrate -- --database
DATABASE_URL=$database DIRECT_DATABASE_URL='' npm run --silent secrets -- check

problems=0
apart=$(ask "select count(*) from campaigns where status = 'SENT' and sent_count + skipped_count + failed_count <> total_recipients")
if [ "$apart" -gt 0 ]; then
  echo "$apart campaigns do not add up" >&2
  problems=1
fi
if [ -f "$backup/uploads.tar.gz" ]; then
  tar -tzf "$backup/uploads.tar.gz" | sed 's#^\./##' | sort >"$names/archive"
  ask 'select key from uploads' | sort | comm -23 - "$names/archive" >"$names/missing"
  if [ -s "$names/missing" ]; then
    echo "$(wc -l <"$names/missing") images are not in uploads.tar.gz, the first of them $(head -n 1 "$names/missing")" >&2
    problems=1
  fi
fi
[ "$problems" = 0 ] || exit 1
if [ -n "${RESTORE_METRICS_FILE:-}" ]; then
  printf '%s\n' '# TYPE fernpost_restore_drill_last_success_timestamp_seconds gauge' "fernpost_restore_drill_last_success_timestamp_seconds $(date +%s)" >"$RESTORE_METRICS_FILE.partial"
  chmod 644 "$RESTORE_METRICS_FILE.partial"
  mv "$RESTORE_METRICS_FILE.partial" "$RESTORE_METRICS_FILE"
fi
echo "Everything fits, after $(($(date +%s) - began)) s"
