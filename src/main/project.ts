import { readConfigOrExit } from '../config.ts';
import { openStore } from '../db/orm.ts';
import { isUuid } from '../lib/ids.ts';

// `npm run project -- enable <id>` lets a disabled project send again, `-- disable <id>` stops one.
const [action = '', id = ''] = process.argv.slice(2);
const changes = {
  enable: 'disabled = false, disabled_reason = null',
  disable: `disabled = true, disabled_reason = coalesce(disabled_reason, 'MANUAL')`,
} as const;

if (!(action === 'enable' || action === 'disable') || !isUuid(id)) {
  console.error('posthorn: usage: npm run project -- enable|disable <project id>');
  process.exitCode = 2;
} else {
  const { DATABASE_URL: url } = readConfigOrExit(['DATABASE_URL']);
  await using store = await openStore({ url: url ?? '', poolSize: 1, applicationName: 'posthorn-project' }, []);
  const row = await store.db.row<{ name: string }>(
    `update projects set ${changes[action]}, updated_at = now() where id = $1 returning name`,
    [id],
  );
  if (row === null) {
    console.error(`posthorn: there is no project ${id}`);
    process.exitCode = 1;
  } else console.log(`Project "${row.name}" is ${action}d`);
}
