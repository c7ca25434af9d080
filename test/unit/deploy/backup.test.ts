import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { settings } from '../../../src/lib/config/settings.ts';
import { deployFile } from '../../support/deploy.ts';

const script = join(import.meta.dirname, '../../../deploy/backup.sh');
const run = promisify(execFile);
let folder: string;

/** A pg_dump that writes what it was asked to dump, or fails. */
function fakePgDump(body: string): void {
  writeFileSync(join(folder, 'bin/pg_dump'), `#!/bin/sh\nset -eu\n${body}\n`);
  chmodSync(join(folder, 'bin/pg_dump'), 0o755);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fernpost-backup-'));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'uploads/.incoming'), { recursive: true });
  writeFileSync(join(folder, 'uploads/.incoming/half'), 'half an image');
  writeFileSync(join(folder, 'uploads/a.png'), 'an image');
  fakePgDump('for last; do :; done\nfile=$(echo "$2" | sed s/--file=//)\necho "$last" > "$file"');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function backUp(env: Record<string, string>): Promise<{ stdout: string; made: string[] }> {
  const { stdout } = await run(script, [join(folder, 'out')], {
    env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, DATABASE_URL: 'postgres://pooler/fernpost', ...env },
  });
  return { stdout, made: readdirSync(join(folder, 'out')).sort() };
}

test('a back-up holds the database and the images, for its owner alone', async () => {
  const { stdout, made } = await backUp({
    DIRECT_DATABASE_URL: 'postgres://direct/fernpost',
    UPLOAD_DIR: join(folder, 'uploads'),
  });
  expect(made).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\d{6}Z$/)]);
  const place = join(folder, 'out', made[0] ?? '');
  expect(stdout.trim()).toBe(place);
  expect(readFileSync(join(place, 'fernpost.dump'), 'utf8')).toBe('postgres://direct/fernpost\n');
  const { stdout: listed } = await run('tar', ['-tzf', join(place, 'uploads.tar.gz')]);
  expect(listed.split('\n')).toContain('./a.png');
  expect(listed).not.toContain('half');
  expect(statSync(join(place, 'fernpost.dump')).mode & 0o077).toBe(0);
});

test('a back-up that failed is never taken for one', async () => {
  fakePgDump('echo "no such server" >&2; exit 1');
  await expect(backUp({ UPLOAD_DIR: join(folder, 'uploads') })).rejects.toThrow('no such server');
  expect(readdirSync(join(folder, 'out'))).toEqual([expect.stringMatching(/\.partial$/)]);
});

test('images in a bucket, and a service that never had one, need no folder', async () => {
  const bucket = await backUp({ S3_ACCESS_KEY_ID: 'key', S3_BUCKET: 'pictures', UPLOAD_DIR: join(folder, 'uploads') });
  expect(bucket.stdout).toContain('the bucket pictures');
  expect(existsSync(join(folder, 'out', bucket.made[0] ?? '', 'uploads.tar.gz'))).toBe(false);
  rmSync(join(folder, 'out'), { recursive: true });
  expect((await backUp({ DATA_DIR: join(folder, 'nothing') })).stdout).toContain('No images');
});

test('old back-ups go, and nothing else does', async () => {
  const out = join(folder, 'out');
  for (const name of ['2026-01-01T000000Z', '2026-06-01T000000Z', 'mine'])
    mkdirSync(join(out, name), { recursive: true });
  const days = (count: number) => new Date(Date.now() - count * 86_400_000);
  utimesSync(join(out, '2026-01-01T000000Z'), days(5), days(5));
  utimesSync(join(out, '2026-06-01T000000Z'), days(2), days(2));
  utimesSync(join(out, 'mine'), days(50), days(50));
  const { made } = await backUp({ KEEP_DAYS: '3', UPLOAD_DIR: join(folder, 'uploads') });
  expect(made).toEqual(expect.arrayContaining(['2026-06-01T000000Z', 'mine']));
  expect(made).not.toContain('2026-01-01T000000Z');
});

test('a backup with pgBackRest leaves the time at which the newest one ended, and one that failed leaves the time of the one before', async () => {
  const metrics = join(folder, 'metrics.prom');
  // As pgBackRest 2.45 writes it.
  const backup = (label: string, stop: number) =>
    JSON.stringify({
      label,
      lsn: { start: '0/2000028', stop: '0/2000138' },
      timestamp: { start: stop - 6, stop },
      type: 'full',
    });
  const info = (...backups: string[]) => `[{"backup":[${backups.join()}],"name":"fernpost","status":{"code":0}}]`;
  const fake = (json: string, status = 0) => {
    writeFileSync(
      join(folder, 'bin/pgbackrest'),
      `#!/bin/sh\necho "$@" >>${join(folder, 'given')}\ncase "$*" in *info) echo '${json}' ;; *) exit ${status} ;; esac\n`,
    );
    chmodSync(join(folder, 'bin/pgbackrest'), 0o755);
  };
  const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, BACKUP_METRICS_FILE: metrics };
  const back = (...args: string[]) => run(script.replace('backup.sh', 'base-backup.sh'), args, { env });
  const metric = () => readFileSync(metrics, 'utf8').split('\n').at(-2);

  fake(info(backup('20261129-182305F', 1_795_976_591), backup('20261129-182305F_20261130-182847D', 1_795_976_967)));
  await back('fernpost', 'full');
  await back('fernpost');
  expect(readFileSync(join(folder, 'given'), 'utf8').match(/--type=\S+ backup/g)).toEqual([
    '--type=full backup',
    '--type=diff backup',
  ]);
  expect(metric()).toBe('fernpost_backup_last_success_timestamp_seconds 1795976967');
  fake(info(backup('20261201-182305F', 1_796_000_000)), 1);
  await expect(back('fernpost')).rejects.toThrow();
  expect(metric()).toBe('fernpost_backup_last_success_timestamp_seconds 1795976967');
  fake(info());
  await expect(back('fernpost')).rejects.toThrow('names no backup of fernpost');
});

test('the script reads settings that exist, and two of its own', () => {
  const read = new Set([...deployFile('backup.sh').matchAll(/\$\{?([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name));
  expect([...read].filter((name) => name !== undefined && !(name in settings))).toEqual([
    'KEEP_DAYS',
    'BACKUP_METRICS_FILE',
  ]);
});
