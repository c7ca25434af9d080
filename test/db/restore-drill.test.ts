import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '@fernpost/local-stack';
import { expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { aProject } from '../support/api.ts';
import { dumpableDatabase, installedPostgres } from '../support/dumpable-database.ts';
import { programEnv } from '../support/program-env.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

test('a drill restores the newest backup into a database of its own, says what does not fit, and leaves nothing behind', async () => {
  await using database = await dumpableDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-drill-'));
  const uploads = join(folder, 'uploads');
  const project = await aProject(database);
  const key = `${project.id}/1-0123456789abcdef.png`;
  mkdirSync(join(uploads, project.id), { recursive: true });
  writeFileSync(join(uploads, key), 'an image');
  const isListed = database.db.count(
    `insert into uploads (id, project_id, key, filename, content_type, size) values ($1, $2, $3, 'a.png', 'image/png', 8)`,
    [newId(), project.id, key],
  );
  expect(await isListed).toBe(1);
  const env = {
    ...programEnv(),
    PATH: `${installedPostgres}:${process.env.PATH}`,
    DATABASE_URL: database.url,
    UPLOAD_DIR: uploads,
    DRILL_DATABASE_URL: database.url,
    RESTORE_METRICS_FILE: join(folder, 'drill.prom'),
  };
  const backUp = async () =>
    (await run('deploy/backup.sh', [join(folder, 'backups')], { cwd: root, env })).stdout.trim();
  const drill = (place = join(folder, 'backups'), more = {}) =>
    run('deploy/restore-drill.sh', [place], { cwd: root, env: { ...env, ...more } });
  const isLeft = () => database.db.rows(`select from pg_database where datname = 'fernpost_restore_drill'`);

  const backup = await backUp();
  const { stdout } = await drill();
  expect(stdout).toContain(`${backup} was restored`);
  expect(stdout).toContain('Projects: 1, contacts: 0, mails: 0; the last mail was accepted at no time');
  expect(stdout).toContain('Postgres: the schema is the newest');
  expect(stdout).toContain('secret keys of projects: 1 with the current key');
  expect(stdout).toContain('Everything fits');
  expect(readFileSync(join(folder, 'drill.prom'), 'utf8')).toMatch(/_seconds \d{10}\n$/);
  expect(await isLeft()).toEqual([]);

  // The wrong secrets, an image that the archive lacks, and a dump that was cut off.
  await expect(drill(backup, { APP_ENCRYPTION_KEY: 'x'.repeat(40) })).rejects.toMatchObject({
    stdout: expect.stringContaining('1 that no key decrypts'),
    stderr: expect.stringContaining('FAILED'),
  });
  rmSync(join(uploads, key));
  await run('tar', ['-C', uploads, '-czf', join(backup, 'uploads.tar.gz'), '.']);
  await expect(drill(backup)).rejects.toMatchObject({
    stderr: expect.stringContaining(`1 images are not in uploads.tar.gz, the first of them ${key}`),
  });
  truncateSync(join(backup, 'fernpost.dump'), 20_000);
  await expect(drill(backup)).rejects.toMatchObject({ stderr: expect.stringContaining('FAILED') });
  expect(await isLeft()).toEqual([]);

  // It never takes a database that was there before.
  await database.db.rows('create database fernpost_restore_drill');
  await expect(drill()).rejects.toThrow('already exists');
  expect(await isLeft()).toHaveLength(1);
  await expect(drill(tmpdir())).rejects.toThrow('There is no backup in');
  rmSync(folder, { recursive: true });
});

test('a drill plays what pgBackRest has in a Postgres of its own, which archives nothing, and leaves nothing behind', async () => {
  await using database = await dumpableDatabase();
  await aProject(database);
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-drill-'));
  const places = join(folder, 'places');
  mkdirSync(places);
  for (const path of [folder, places]) chmodSync(path, 0o777);
  // In place of the archive a copy of the running server; pgBackRest itself was run by hand (docs/operations/recover.md).
  const copy = join(folder, 'copy');
  await run(join(installedPostgres, 'pg_basebackup'), [
    '--pgdata',
    copy,
    '--wal-method=fetch',
    '--dbname',
    database.url,
  ]);
  writeFileSync(join(copy, 'postgresql.auto.conf'), "shared_preload_libraries = 'no_such_library'\nport = 1\n", {
    flag: 'a',
  });
  const given = join(folder, 'given');
  writeFileSync(
    join(folder, 'pgbackrest'),
    `#!/bin/sh\nset -eu\necho "$@" >>${given}\nfor option; do case $option in --pg1-path=*) cp -r ${copy} "\${option#*=}"; chmod -R go= "\${option#*=}" ;; esac; done\n`,
  );
  writeFileSync(given, '');
  await run('chmod', ['-R', 'a+rwX', folder]);
  chmodSync(join(folder, 'pgbackrest'), 0o755);
  const env = {
    ...programEnv(),
    PATH: `${folder}:${installedPostgres}:${process.env.PATH}`,
    PGUSER: new URL(database.url).username,
    PGDATABASE: new URL(database.url).pathname.slice(1),
    DRILL_FOLDER: places,
    DRILL_POSTGRES_BIN: installedPostgres,
    DRILL_PORT: String((await freePorts(1))[0]),
    RESTORE_METRICS_FILE: join(folder, 'drill.prom'),
  };
  const drill = () => run('deploy/restore-drill.sh', ['pgbackrest:fernpost'], { cwd: root, env });
  const { stdout } = await drill();
  expect(readFileSync(given, 'utf8')).toMatch(/--stanza=fernpost .*--archive-mode=off .*restore\n$/);
  expect(stdout).toMatch(/^pgbackrest:fernpost was restored in \d+ s/);
  expect(stdout).toContain('Projects: 1, contacts: 0, mails: 0; the last mail was accepted at no time');
  expect(stdout).toContain('secret keys of projects: 1 with the current key');
  expect(stdout).toContain('Everything fits');
  expect(readFileSync(join(folder, 'drill.prom'), 'utf8')).toMatch(/_seconds \d{10}\n$/);
  expect(readdirSync(places)).toEqual([]);

  // A file of the backup that is not what it was.
  rmSync(join(copy, 'global/pg_control'));
  await expect(drill()).rejects.toMatchObject({ stderr: expect.stringContaining('FAILED: pgbackrest:fernpost') });
  expect(readdirSync(places)).toEqual([]);
  rmSync(folder, { recursive: true });
});
