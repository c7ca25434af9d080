import type { Database } from '../../src/store/sql.ts';

/**
 * A database with which a process that a test kills comes to a stop, at `before-commit` or `after-commit` of the transaction with that number. It
 * tells its parent `there`, and does nothing more.
 */
export function stopping(db: Database, stopAt: string, turn: number): Database {
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
