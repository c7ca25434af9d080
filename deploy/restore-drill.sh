#!/bin/sh
# Proves that a backup can be restored: into a database of its own, which goes again, with the release and the secrets of this machine. Nothing is
# started and nothing is sent. See docs/operations/recover.md. Ends with status 1 when anything is missing or does not fit.
set -eu
umask 077

backups=${1:?"usage: restore-drill.sh FOLDER, a backup or the folder of all of them"}
server=${DRILL_DATABASE_URL:?"DRILL_DATABASE_URL is not set: a server, other than that of the service, where a database may be created"}
scratch=fernpost_restore_drill
# The same server and settings, another database.
database=$(printf '%s' "$server" | sed "s#^\([a-z]*://[^/?]*\)[^?]*#\1/$scratch#")
cd "$(dirname "$0")/.."

if [ -f "$backups/fernpost.dump" ]; then
  backup=$backups
else
  name=$(ls "$backups" | grep -E '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z$' | tail -n 1)
  [ -n "$name" ] || { echo "There is no backup in $backups" >&2; exit 1; }
  backup=$backups/$name
fi
began=$(date +%s)
names=$(mktemp -d)
ask() { psql -X -v ON_ERROR_STOP=1 -Atq -d "$database" -c "$1"; }
finish() {
  code=$?
  rm -r "$names"
  psql -X -q -d "$server" -c "drop database if exists $scratch with (force)" || code=1
  [ "$code" -eq 0 ] || echo "FAILED: $backup could not be restored as it is" >&2
  exit "$code"
}
# It is dropped in the end, so it must not be there before.
psql -X -v ON_ERROR_STOP=1 -q -d "$server" -c "create database $scratch"
trap finish EXIT

pg_restore --no-owner --exit-on-error --dbname="$database" "$backup/fernpost.dump"
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
