import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queuePrefix } from '@fernpost/earlier-name';
import { afterAll, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../../src/lib/config/config.ts';
import { describeFailure, grpcCode, grpcDetails, grpcStatus, isTemporalUnreachable } from '../../../src/lib/network.ts';
import { pause } from '../../../src/lib/time.ts';
import { temporalSettings } from '../../../src/main/temporal/temporal-server.ts';
import { cachedExecutions } from '../../../src/main/worker/worker-metrics.ts';
import {
  queueKinds,
  searchAttribute,
  searchAttributePairs,
  siblingQueue,
  taskQueue,
  workflowId,
  workflowQueues,
} from '../../../temporal/commands.ts';
import { dataConverterOf, encryptingCodec, isTemporalCloud, openTemporal } from '../../../temporal/connection.ts';
import { scheduleId } from '../../../temporal/setup.ts';
import * as workflows from '../../../workflows/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'fernpost-temporal-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const settingsOf = (env: Record<string, string>) =>
  temporalSettings(readConfig({ TEMPORAL_ADDRESS: 'temporal.acme.test:7233', ...env }));

test('a workflow finds the other queues of its installation, whatever the prefix', () => {
  for (const prefix of ['fernpost', 'my-post-horn', 'test-1']) {
    for (const own of queueKinds)
      for (const other of queueKinds)
        expect(siblingQueue(taskQueue(prefix, own), other)).toBe(taskQueue(prefix, other));
  }
  expect(taskQueue('fernpost', 'mail')).toBe('fernpost-mail');
});

test('workflow ids are made of row ids only', () => {
  expect(workflowId.delivery('0190')).toBe('delivery/0190');
  expect(workflowId.campaign('0191', 3)).toBe('campaign/0191/3');
});

test('every workflow type that commands can name is in the bundle, and the other way round', () => {
  expect(Object.keys(workflows).sort()).toEqual(Object.keys(workflowQueues).sort());
});

test('the docs say how to make every search attribute on Temporal Cloud', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/operations/configure.md'), 'utf8');
  const made = [...page.matchAll(/--search-attribute (\w+)=(\w+)/g)].map(([, name, type]) => [
    name,
    type?.toUpperCase(),
  ]);
  expect(made).toEqual(Object.values(searchAttribute).map(({ name, type }) => [name, type]));
});

test('search attributes fit into the columns of an SQL visibility store', () => {
  const types = Object.values(searchAttribute).map((key) => key.type);
  expect(types.filter((type) => type === 'KEYWORD').length).toBeLessThanOrEqual(10);
  for (const type of ['INT', 'DATETIME']) expect(types.filter((one) => one === type).length).toBeLessThanOrEqual(3);
  for (const [name, key] of Object.entries(searchAttribute)) expect(key.name).toBe(name);
});

test('search attributes travel as JSON and arrive in their own types', () => {
  const sent = JSON.parse(JSON.stringify({ ProjectId: '0190', Recipients: 7, DueAt: '2026-03-02T09:15:00.000Z' }));
  expect(searchAttributePairs(sent)).toEqual([
    { key: searchAttribute.ProjectId, value: '0190' },
    { key: searchAttribute.Recipients, value: 7 },
    { key: searchAttribute.DueAt, value: new Date('2026-03-02T09:15:00.000Z') },
  ]);
});

test('a self-hosted server needs no more than its address', () => {
  expect(settingsOf({})).toEqual({
    address: 'temporal.acme.test:7233',
    namespace: 'default',
    apiKey: null,
    tls: null,
    codecKey: null,
  });
});

test('an API key, a certificate authority or a client certificate each turn TLS on', () => {
  expect(settingsOf({ TEMPORAL_TLS: 'true' }).tls).toEqual({});
  expect(settingsOf({ TEMPORAL_API_KEY: 'secret' })).toMatchObject({ apiKey: 'secret', tls: {} });
  expect(settingsOf({ TEMPORAL_TLS_CA: file('ca.pem', 'authority') }).tls).toEqual({
    serverRootCACertificate: Buffer.from('authority'),
  });
  expect(
    settingsOf({
      TEMPORAL_TLS_CERT: file('cert.pem', 'certificate'),
      TEMPORAL_TLS_KEY: file('key.pem', 'key'),
      TEMPORAL_TLS_SERVER_NAME: 'temporal.internal',
    }).tls,
  ).toEqual({
    clientCertPair: { crt: Buffer.from('certificate'), key: Buffer.from('key') },
    serverNameOverride: 'temporal.internal',
  });
});

test('every file that cannot be read is named by its setting', () => {
  const missing = join(folder, 'missing.pem');
  const attempt = () => settingsOf({ TEMPORAL_TLS_CERT: missing, TEMPORAL_TLS_KEY: missing, TEMPORAL_TLS_CA: missing });
  expect(attempt).toThrow(ConfigError);
  for (const name of ['TEMPORAL_TLS_CA', 'TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY']) expect(attempt).toThrow(name);
});

test('Temporal Cloud is known by its host names only', () => {
  const at = (address: string) => isTemporalCloud({ ...settingsOf({}), address });
  expect(at('acme.a2dd6.tmprl.cloud:7233')).toBe(true);
  expect(at('us-east-1.aws.api.temporal.io:7233')).toBe(true);
  expect(at('temporal.acme.test:7233')).toBe(false);
  expect(at('tmprl.cloud.acme.test:7233')).toBe(false);
});

test('installations that share a namespace have schedules of their own', () => {
  for (const prefix of ['fernpost', queuePrefix])
    expect(scheduleId(prefix, 'reconcile')).toBe('housekeeping/reconcile');
  expect(scheduleId('staging', 'reconcile')).toBe('staging/housekeeping/reconcile');
});

test('the reason of a failure is found below the wrappers of the SDK', () => {
  const wire = Object.assign(new Error('14 UNAVAILABLE: No connection established'), {
    code: grpcStatus.UNAVAILABLE,
    details: 'No connection established',
  });
  const wrapped = new Error('Failed to start Workflow', { cause: wire });
  expect(grpcCode(wrapped)).toBe(grpcStatus.UNAVAILABLE);
  expect(grpcDetails(wrapped)).toBe('No connection established');
  expect(isTemporalUnreachable(wrapped)).toBe(true);
  expect(describeFailure(wrapped, settingsOf({}))).toBe('cannot reach temporal.acme.test:7233');
  expect(grpcCode(Object.assign(new Error('of Postgres'), { code: '57P01' }))).toBeNull();
  expect(isTemporalUnreachable(new Error('anything else'))).toBe(false);
});

const aPayload = () => ({ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"name":"Ida"}') });

test('encrypted payloads show nothing of their content, and come back whole', async () => {
  const codec = encryptingCodec('a secret of more than thirty-two characters');
  const [first, second] = await codec.encode([aPayload(), aPayload()]);
  expect(Buffer.from(first?.data ?? []).includes('Ida')).toBe(false);
  expect(Buffer.from(first?.data ?? [])).not.toEqual(Buffer.from(second?.data ?? []));
  const [back] = await codec.decode([first ?? {}]);
  expect(Buffer.from(back?.data ?? []).toString()).toBe('{"name":"Ida"}');
  expect(Buffer.from(back?.metadata?.encoding ?? []).toString()).toBe('json/plain');
});

test('payloads from before the key are read as they are; those of another key are refused', async () => {
  const codec = encryptingCodec('a secret of more than thirty-two characters');
  expect(await codec.decode([aPayload()])).toEqual([aPayload()]);
  const foreign = await encryptingCodec('another secret of thirty-two characters').encode([aPayload()]);
  await expect(codec.decode(foreign)).rejects.toThrow('TEMPORAL_CODEC_KEY');
  // During a rotation what the previous key encrypted is read, and the current one encrypts.
  const rotated = dataConverterOf({
    ...settingsOf({
      TEMPORAL_CODEC_KEY: 'a secret of more than thirty-two characters',
      TEMPORAL_CODEC_KEY_PREVIOUS: 'another secret of thirty-two characters',
    }),
  }).payloadCodecs?.[0];
  expect(await rotated?.decode(foreign)).toMatchObject([{ data: aPayload().data }]);
  const [anew] = (await rotated?.encode([aPayload()])) ?? [];
  expect(await codec.decode([anew ?? {}])).toMatchObject([{ data: aPayload().data }]);
});

test('the cache of executions follows the memory of the process, within bounds', () => {
  const gigabyte = 2 ** 30;
  expect(cachedExecutions(0.25 * gigabyte)).toBe(100);
  expect(cachedExecutions(4 * gigabyte)).toBe(400);
  expect(cachedExecutions(1024 * gigabyte)).toBe(400);
});

test('a connection that is closed while a call is to be repeated answers that call', async () => {
  const temporal = openTemporal(settingsOf({ TEMPORAL_ADDRESS: '127.0.0.1:1' }));
  const call = temporal.within(5_000, () =>
    temporal.connection.workflowService.describeNamespace({ namespace: 'any' }),
  );
  const failure = call.catch((error: Error) => error.message);
  // The first attempt is refused at once; the second one is due a sixth of a second later.
  await pause(100);
  await temporal.close();
  expect(await failure).toContain('UNAVAILABLE');
});
