import { readConfigOrExit } from '../lib/config/config.ts';
import { openStore } from '../store/orm.ts';
import { useKeptSecret } from './projects/approvals.ts';
import { countSealed, sealedColumns } from './projects/sealed-queries.ts';

// `npm run secrets -- check` counts what is stored encrypted by the key that decrypts it; `-- reencrypt` encrypts what a
// previous key did with the current one. Both end with status 1 while something is left that the current key does not decrypt.
const [action = ''] = process.argv.slice(2);

if (action !== 'check' && action !== 'reencrypt') {
  console.error('fernpost: usage: npm run secrets -- check|reencrypt');
  process.exitCode = 2;
} else {
  useKeptSecret();
  const config = readConfigOrExit(['DATABASE_URL']);
  await using store = await openStore(
    { url: config.DATABASE_URL ?? '', poolSize: 1, applicationName: 'fernpost-secrets' },
    [],
  );
  let left = 0;
  for (const column of sealedColumns) {
    const counts = await countSealed(store.db, column, config.encryptionKeys, action === 'reencrypt');
    const { current, previous, changed, unreadable } = counts;
    const parts = [
      `${current + changed} with the current key`,
      ...(changed > 0 ? [`${changed} of them re-encrypted now`] : []),
      ...(previous > 0 ? [`${previous} with a previous key`] : []),
      ...(unreadable > 0 ? [`${unreadable} that no key decrypts`] : []),
    ];
    console.log(`${column.what}: ${parts.join(', ')}`);
    left += previous + unreadable;
  }
  if (left > 0) process.exitCode = 1;
}
