import { readConfigOrExit } from '../core/config/config.ts';
import { openStore } from '../core/database/orm.ts';
import { type Query, sql } from '../core/database/sql.ts';
import { isUuid } from '../core/lib/ids.ts';
import { createByHand } from './projects/project-create.ts';

// `npm run project -- enable <id>` lets a disabled project send again, `-- disable <id>` stops one; `-- rate <id> <n>` lets
// it send n messages a second at most, `-- rate <id> default` as many as every other one; `-- create` makes one.
const usage = [
  'npm run project -- enable|disable <project id>',
  'npm run project -- rate <project id> <messages a second>|default',
  'npm run project -- create --owner <address> --sender <address> [--name <name>]',
];

/** What an action changes, and what is said of it then; null when it is none. */
function changeOf(action: string, amount = ''): { set: Query; told: string } | null {
  if (action === 'enable') return { set: sql`disabled = false, disabled_reason = null`, told: 'is enabled' };
  if (action === 'disable') {
    const set = sql`disabled = true, disabled_reason = coalesce(disabled_reason, 'MANUAL')`;
    return { set, told: 'is disabled' };
  }
  if (action !== 'rate') return null;
  if (amount === 'default')
    return { set: sql`send_rate = null`, told: 'sends as fast as SEND_RATE_PER_PROJECT lets it' };
  const rate = /^\d{1,9}$/.test(amount) ? Number(amount) : 0;
  return rate > 0 ? { set: sql`send_rate = ${rate}`, told: `sends at most ${rate} messages a second` } : null;
}

const [action = '', id = '', amount] = process.argv.slice(2);
const change = changeOf(action, amount);

if (action === 'create') process.exitCode = await createByHand(process.argv.slice(3));
else if (change === null || !isUuid(id)) {
  for (const line of usage) console.error(`fernpost: usage: ${line}`);
  process.exitCode = 2;
} else {
  const { DATABASE_URL: url } = readConfigOrExit(['DATABASE_URL']);
  await using store = await openStore({ url: url ?? '', poolSize: 1, applicationName: 'fernpost-project' }, []);
  const row = await store.db.row<{ name: string }>(
    sql`update projects set ${change.set}, updated_at = now() where id = ${id} returning name`,
  );
  if (row === null) {
    console.error(`fernpost: there is no project ${id}`);
    process.exitCode = 1;
  } else console.log(`Project "${row.name}" ${change.told}`);
}
