#!/bin/sh
# Takes a backup with pgBackRest and writes when the newest one ended, for an alert. Run it as the user of Postgres. See docs/operations/recover.md.
set -eu

stanza=${1:?"usage: base-backup.sh STANZA [full|diff|incr]"}
pgbackrest --stanza="$stanza" --type="${2:-diff}" backup

# What the repository says, and not that this came so far. For the textfile collector of node_exporter, which reads whole files only.
if [ -n "${BACKUP_METRICS_FILE:-}" ]; then
  ended=$(pgbackrest --stanza="$stanza" --output=json info | grep -o '"stop":[0-9][0-9]*' | tail -n 1 | cut -d: -f2)
  [ -n "$ended" ] || { echo "pgBackRest names no backup of $stanza" >&2; exit 1; }
  printf '%s\n' '# TYPE fernpost_backup_last_success_timestamp_seconds gauge' "fernpost_backup_last_success_timestamp_seconds $ended" >"$BACKUP_METRICS_FILE.partial"
  chmod 644 "$BACKUP_METRICS_FILE.partial"
  mv "$BACKUP_METRICS_FILE.partial" "$BACKUP_METRICS_FILE"
fi
