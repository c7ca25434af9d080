import { entities } from '../../src/main/setup/database-settings.ts';
import { openStore } from '../../src/store/orm.ts';
import { enrolPending } from './automation-fixtures.ts';
import { stopping } from './stopping-database.ts';

/**
 * A process that enrolls what is pending and that a test kills. Arguments: database URL, and where it comes to a stop: `before-commit` or
 * `after-commit`, and of which transaction. It tells its parent `there` when it is there and does nothing more, or `done` once nothing is pending.
 */
async function main([url = '', stopAt = '', turn = '']: string[]): Promise<void> {
  const store = await openStore({ url, poolSize: 2, applicationName: 'doomed enroller' }, entities);
  await enrolPending(stopping(store.db, stopAt, Number(turn)));
  process.send?.('done');
}

await main(process.argv.slice(2));
