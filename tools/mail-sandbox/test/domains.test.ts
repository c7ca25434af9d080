import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from './support.ts';

test('creates a domain with a pending key, which the first check makes good', async () => {
  const { account } = await startSandbox();
  const created = await account.createDomain({ Name: 'Acme.test', ReturnPathDomain: 'pm-bounces.acme.test' });
  expect(created).toMatchObject({
    ID: 1,
    Name: 'acme.test',
    DKIMVerified: false,
    WeakDKIM: false,
    DKIMHost: '',
    DKIMPendingHost: expect.stringMatching(/^\d{14}pm\._domainkey\.acme\.test$/),
    DKIMPendingTextValue: expect.stringMatching(/^k=rsa; p=[A-Za-z0-9+/]{216}$/),
    DKIMRevokedHost: '',
    ReturnPathDomain: 'pm-bounces.acme.test',
    ReturnPathDomainVerified: false,
    ReturnPathDomainCNAMEValue: 'pm.mtasv.net',
  });
  const verified = await account.verifyDomainDKIM(created.ID);
  expect(verified).toMatchObject({
    DKIMVerified: true,
    DKIMHost: created.DKIMPendingHost,
    DKIMTextValue: created.DKIMPendingTextValue,
    DKIMPendingHost: '',
  });
  expect(await account.verifyDomainReturnPath(created.ID)).toMatchObject({ ReturnPathDomainVerified: true });
  expect(await account.getDomain(created.ID)).toMatchObject({ DKIMVerified: true, ReturnPathDomainVerified: true });
});

test('never verifies names that start with "pending." and fails those with "failed."', async () => {
  const { account } = await startSandbox();
  const pending = await account.createDomain({ Name: 'pending.acme.test' });
  const failed = await account.createDomain({ Name: 'failed.acme.test' });
  const pendingCheck = await account.verifyDomainDKIM(pending.ID);
  expect(pendingCheck).toMatchObject({ DKIMVerified: false, DKIMUpdateStatus: 'Pending' });
  const failedCheck = await account.verifyDomainDKIM(failed.ID);
  expect(failedCheck).toMatchObject({ DKIMVerified: false, DKIMUpdateStatus: 'Failed' });
});

test('lists and deletes domains, refuses taken and malformed names, and asks for a token', async () => {
  const { account, get } = await startSandbox();
  const first = await account.createDomain({ Name: 'acme.test' });
  await account.createDomain({ Name: 'news.acme.test' });
  await expect(account.createDomain({ Name: 'ACME.test' })).rejects.toMatchObject({ statusCode: 422, code: 512 });
  await expect(account.createDomain({ Name: 'acme_test' })).rejects.toMatchObject({ statusCode: 422, code: 511 });
  expect(await account.getDomains()).toMatchObject({
    TotalCount: 2,
    Domains: [{ Name: 'acme.test' }, { Name: 'news.acme.test' }],
  });
  expect(await account.deleteDomain(first.ID)).toMatchObject({ ErrorCode: 0 });
  await expect(account.getDomain(first.ID)).rejects.toMatchObject({ code: 510 });
  expect((await get('/domains?count=1&offset=0')).status).toBe(401);
});

test('keeps domains over a restart, and never gives an id twice', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sandbox-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const before = await startSandbox({ dataDir });
  const { ID } = await before.account.createDomain({ Name: 'acme.test' });
  const other = await before.account.createDomain({ Name: 'other.test' });
  await before.account.verifyDomainDKIM(ID);
  await before.account.deleteDomain(other.ID);
  await before.close();

  const after = await startSandbox({ dataDir });
  expect(await after.account.getDomain(ID)).toMatchObject({ Name: 'acme.test', DKIMVerified: true });
  expect((await after.account.createDomain({ Name: 'third.test' })).ID).toBeGreaterThan(other.ID);
});
