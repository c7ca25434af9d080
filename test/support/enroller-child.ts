import { entities } from '../../src/main/setup/database-settings.ts';
import { openStore } from '../../src/store/orm.ts';
import type { Database } from '../../src/store/sql.ts';
import { enrolPending } from './automation-fixtures.ts';

/**
 * A process that enrolls what is pending and that a test kills. Arguments: database URL, and where it comes to a stop: `before-commit` or
 * `after-commit`, and of which transaction. It tells its parent `there` when it is there and does nothing more, or `done` once nothing is pending.
 */
async function main([url = '', stopAt = '', turn = '']: string[]): Promise<void> {
  const store = await openStore({ url, poolSize: 2, applicationName: 'doomed enroller' }, entities);
  await enrolPending(stopping(store.db, stopAt, Number(turn)));
  process.send?.('done');
}

function stopping(db: Database, stopAt: string, turn: number): Database {
  let transactions = 0;
  const stop = () => {
    process.send?.('there');
    return new Promise<never>(() => undefined);
  };
  return {
    ...db,
    async transaction(work) {
      const isLast = ++transactions === turn;
      const result = await db.transaction(async (tx) => {
        const done = await work(tx);
        if (isLast && stopAt === 'before-commit') await stop();
        return done;
      });
      if (isLast) await stop();
      return result;
    },
  };
}

await main(process.argv.slice(2));
