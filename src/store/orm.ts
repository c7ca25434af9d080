import type { EntityName } from '@mikro-orm/core';
import { MikroORM, type Options } from '@mikro-orm/postgresql';
import { Pool } from 'pg';
import { PostgresNames } from './columns.ts';
import {
  type ConnectionRoute,
  type ConnectionSettings,
  connectionOptions,
  endHeldConnections,
  inspectRoute,
} from './postgres/connection.ts';
import { type Database, databaseOf } from './sql.ts';

/** Postgres as the service uses it: `db` is how the code holds it, `orm` what its entity managers come from; one pool under both. */
export interface Store extends AsyncDisposable {
  orm: MikroORM;
  db: Database;
  route: ConnectionRoute;
  close(): Promise<void>;
}

/** Connects to Postgres once, to find out what is in between; the pool opens its connections when they are first needed. */
export async function openStore(settings: ConnectionSettings, entities: EntityName[]): Promise<Store> {
  const route = await inspectRoute(settings.url);
  const orm = await MikroORM.init(ormOptions(settings, entities, route));
  const pool = (await (
    orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> }
  ).getNativeClient()) as Pool;
  if (settings.limits?.statementMs) endHeldConnections(pool, settings.limits.statementMs * 2);
  const close = async () => {
    await orm.close(true);
    // The ORM ends the pool only if it has asked something itself; an idle connection would keep the process.
    if (!pool.ending) await pool.end();
  };
  return {
    orm,
    db: databaseOf(pool, { prepares: route.prepares, em: orm.em }),
    route,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A pool of its own beside a store's, for questions that must not queue behind the requests of others. */
export function openSidePool(settings: ConnectionSettings, store: Store): { db: Database; close(): Promise<void> } {
  const pool = new Pool({
    connectionString: settings.url,
    max: settings.poolSize,
    types: store.db.pool.options.types,
    ...connectionOptions(settings, store.route),
  });
  // The next question connects anew; a connection that broke in between is no news.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  if (settings.limits?.statementMs) endHeldConnections(pool, settings.limits.statementMs * 2);
  // Entity managers work in transactions here: outside of one they would take the connections of the store.
  return { db: databaseOf(pool, { prepares: store.route.prepares, em: store.orm.em }), close: () => pool.end() };
}

// So many idle connections stay open, others for ten seconds. A request that comes when more are busy waits for a new one, which takes many
// times as long as its statement while the machine is busy.
const keptConnections = 4;

function ormOptions(settings: ConnectionSettings, entities: EntityName[], route: ConnectionRoute): Options {
  return {
    clientUrl: settings.url,
    entities,
    pool: { min: Math.min(keptConnections, settings.poolSize), max: settings.poolSize },
    driverOptions: connectionOptions(settings, route),
    // A wrong name in the address is an error, not a wish for another database.
    ensureDatabase: false,
    namingStrategy: PostgresNames,
    forceUtcTimezone: true,
    discovery: { warnWhenNoEntities: false },
    logger: () => undefined,
  };
}
