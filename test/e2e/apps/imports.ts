import assert from 'node:assert/strict';
import { address, all, fernpost, only, until } from './app.ts';

// Import contacts from a file, look at what came in, and take it back.
const known = address('known');
const added = address('added');
await fernpost.contacts.upsert({ email: known, data: { plan: 'free' } });

const form = new FormData();
const csv = `email,subscribed,plan\n${known},true,pro\n${added},true,pro\nnobody,true,pro\n`;
form.append('file', new Blob([csv]), 'audience.csv');
const { jobId } = await fernpost.call('importContacts', { body: form });
const { result } = await until(
  () => fernpost.call('getContactImport', { path: { jobId } }),
  ({ state }) => state === 'completed' || state === 'failed',
);
assert.deepEqual([result?.createdCount, result?.updatedCount, result?.failureCount], [1, 1, 1]);
const find = async (email: string) => all(fernpost.contacts.list({ search: email }));
assert.equal(only(await find(known)).data?.plan, 'pro');

const path = { jobId };
const preview = await fernpost.call('undoImport', { path, body: { dryRun: true } });
assert.deepEqual([preview.deletes, preview.restores], [1, 1]);
const undo = await fernpost.call('undoImport', { path, body: {} });
await until(
  () => fernpost.call('getBulkJob', { path: { jobId: undo.jobId ?? '' } }),
  ({ state }) => state === 'completed',
);
assert.equal(only(await find(known)).data?.plan, 'free');
assert.deepEqual(await find(added), []);
