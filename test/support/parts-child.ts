import { setTimeout as pause } from 'node:timers/promises';
import { entities } from '../../src/main/setup/database-settings.ts';
import { divideEvents, partPace } from '../../src/store/event-parts.ts';
import { removeOldEvents } from '../../src/store/event-retirement.ts';
import { openStore } from '../../src/store/orm.ts';

/**
 * A process that divides the events of a database, then keeps the parts as retention does, and that a test kills. Arguments: the URL, the days for which
 * events are kept, the instants of both, and before which step it stops for ever, or `in` which it tells that it is about to take. It says `there` then.
 */
async function main([
  url = '',
  days = '',
  divides = '',
  removes = '',
  moment = '',
  where = '',
]: string[]): Promise<void> {
  const store = await openStore({ url, poolSize: 2, applicationName: 'doomed divider' }, entities);
  const retention = { days: Number(days), leastDays: 0 };
  const step = async (name: string) => {
    if (name !== where) return;
    process.send?.('there');
    if (moment === 'before') await pause(2 ** 31 - 1);
  };
  const pace = { ...partPace, lockMs: 60_000, step };
  const client = await store.db.pool.connect();
  await divideEvents(client, retention, new Date(divides), pace);
  client.release();
  await removeOldEvents(store.db, retention, new Date(removes), 1_000_000, pace);
  process.send?.('done');
  await store.close();
}

await main(process.argv.slice(2));
