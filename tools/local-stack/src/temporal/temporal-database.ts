import { createHash } from 'node:crypto';
import { chmodSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const unfinishedMark = (databaseFile: string) => `${databaseFile}.unfinished`;
const endings = ['', '-wal', '-shm'];
const filesOf = (databaseFile: string) => endings.map((end) => databaseFile + end).filter((file) => existsSync(file));

/**
 * The server makes its tables only where there is no file yet. One that was killed while it made them would never start again, so a
 * mark stands beside the file until the server has answered once.
 */
export function prepareDatabase(databaseFile: string): void {
  if (existsSync(unfinishedMark(databaseFile))) for (const file of filesOf(databaseFile)) rmSync(file, { force: true });
  if (!existsSync(databaseFile)) writeFileSync(unfinishedMark(databaseFile), '');
}

/** Notes that the server has answered. */
export function acceptDatabase(databaseFile: string): void {
  rmSync(unfinishedMark(databaseFile), { force: true });
  // SQLite gives files that it makes later the mode of the first; what they hold is nobody else's business.
  for (const file of filesOf(databaseFile)) chmodSync(file, 0o600);
}

/**
 * A fingerprint of the tables in a database of the development server; null where there are none that can be read. The server changes
 * no tables that exist: a newer one starts on those of an older one, and then fails at whatever needs a table that is missing.
 */
export function tablesOf(databaseFile: string): string | null {
  if (!existsSync(databaseFile)) return null;
  try {
    const database = new DatabaseSync(databaseFile);
    try {
      const rows = database
        .prepare("select sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by type, name")
        .all();
      if (rows.length === 0) return null;
      return createHash('sha256')
        .update(rows.map(({ sql }) => sql).join('\n'))
        .digest('hex');
    } finally {
      database.close();
    }
  } catch {
    return null;
  }
}

/** Puts a database out of the server's way, under a name with the time, and returns that name. */
export function setAside(databaseFile: string): string {
  const at = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const aside = `${databaseFile}.${at}`;
  for (const end of endings) if (existsSync(databaseFile + end)) renameSync(databaseFile + end, aside + end);
  return aside;
}

/** Puts back what was set aside. */
export function takeBack(databaseFile: string, aside: string): void {
  for (const file of [...filesOf(databaseFile), unfinishedMark(databaseFile)]) rmSync(file, { force: true });
  for (const end of endings) if (existsSync(aside + end)) renameSync(aside + end, databaseFile + end);
}
