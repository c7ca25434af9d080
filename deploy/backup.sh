#!/bin/sh
# Backs up Fernpost: the database, then the uploaded images, into a new folder below the one that is named. See docs/operations/recover.md.
# Restore: pg_restore --no-owner --dbname=… fernpost.dump; tar -C "$UPLOAD_DIR" -xzf uploads.tar.gz
set -eu
umask 077

target=${1:?"usage: backup.sh FOLDER"}
database=${DIRECT_DATABASE_URL:-${DATABASE_URL:?"DATABASE_URL is not set"}}
uploads=${UPLOAD_DIR:-${DATA_DIR:-.data}/uploads}
keep_days=${KEEP_DAYS:-14}

name=$(date -u +%Y-%m-%dT%H%M%SZ)
partial=$target/$name.partial
mkdir -p "$target"
mkdir "$partial"

# The database first: an image that is uploaded in between is one too many in the archive, never one too few.
pg_dump --format=custom --file="$partial/fernpost.dump" "$database"

driver=${STORAGE_DRIVER:-}
[ -n "$driver" ] || [ -z "${S3_ACCESS_KEY_ID:-}" ] || driver=s3
if [ "$driver" = s3 ]; then
  echo "Images are in the bucket ${S3_BUCKET:-uploads}: back it up by the tools of its store"
elif [ -d "$uploads" ]; then
  # A file that goes away while it is read (a user deletes an image) is no failure; GNU tar says 1 for it.
  tar -C "$uploads" --exclude=./.incoming -czf "$partial/uploads.tar.gz" . || [ $? -eq 1 ]
else
  echo "No images: there is no folder $uploads"
fi

mv "$partial" "$target/$name"
# For the textfile collector of node_exporter, which reads whole files only.
if [ -n "${BACKUP_METRICS_FILE:-}" ]; then
  printf '%s\n' '# TYPE fernpost_backup_last_success_timestamp_seconds gauge' "fernpost_backup_last_success_timestamp_seconds $(date +%s)" >"$BACKUP_METRICS_FILE.partial"
  chmod 644 "$BACKUP_METRICS_FILE.partial"
  mv "$BACKUP_METRICS_FILE.partial" "$BACKUP_METRICS_FILE"
fi
# Only folders that this script named.
find "$target" -mindepth 1 -maxdepth 1 -type d -name '20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9]*Z' -mtime "+$keep_days" -exec rm -r {} +
echo "$target/$name"
