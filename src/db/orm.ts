import type { EntityName } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type Options } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { type Database, databaseOf } from './sql.ts';

/** How to reach Postgres. */
export interface ConnectionSettings {
  url: string;
  /** Most connections this process may hold. */
  poolSize: number;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
}

/** Postgres as the service uses it: the ORM for rows with rules, `db` for hand-written SQL, one pool under both. */
export interface Store extends AsyncDisposable {
  orm: MikroORM;
  db: Database;
  close(): Promise<void>;
}

/** Connects to Postgres. The pool opens connections when they are first needed. */
export async function openStore(settings: ConnectionSettings, entities: EntityName[]): Promise<Store> {
  const orm = await MikroORM.init(ormOptions(settings, entities));
  const pool = (await (
    orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> }
  ).getNativeClient()) as Pool;
  const close = () => orm.close(true);
  return { orm, db: databaseOf(pool), close, [Symbol.asyncDispose]: close };
}

/** The ORM's options; migrations come from the code, not from a folder, so that a bundle or an image needs no glob. */
export function ormOptions(settings: ConnectionSettings, entities: EntityName[]): Options {
  return {
    clientUrl: settings.url,
    entities,
    extensions: [Migrator],
    pool: { min: 0, max: settings.poolSize },
    driverOptions: { options: '-c timezone=UTC', application_name: settings.applicationName },
    forceUtcTimezone: true,
    discovery: { warnWhenNoEntities: false },
    logger: () => undefined,
  };
}
