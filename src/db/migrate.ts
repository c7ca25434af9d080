import { MikroORM } from '@mikro-orm/postgresql';
import { Client } from 'pg';
import { migrations } from '../../migrations/index.ts';
import { ormOptions } from './orm.ts';

// Any number that no other program on this database takes as an advisory lock.
const migrationLock = 7_067_114;

/**
 * Brings the database to the newest schema and answers the names of the migrations that ran.
 * Processes that call it at the same time wait for one another; running it again changes nothing.
 */
export async function migrateDatabase(url: string): Promise<string[]> {
  const guard = new Client({ connectionString: url, application_name: 'posthorn-migrate' });
  await guard.connect();
  try {
    await guard.query('select pg_advisory_lock($1)', [migrationLock]);
    const orm = await MikroORM.init({
      ...ormOptions({ url, poolSize: 2, applicationName: 'posthorn-migrate' }, []),
      migrations: { migrationsList: migrations, snapshot: false, transactional: true, allOrNothing: true },
    });
    try {
      const done = await orm.migrator.up();
      return done.map((migration) => migration.name);
    } finally {
      await orm.close(true);
    }
  } finally {
    await guard.end();
  }
}
