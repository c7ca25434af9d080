import { randomBytes } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { searchAttribute } from '../../temporal/commands.ts';
import { checkTemporal, openTemporal, type TemporalConnection } from '../../temporal/connection.ts';
import { setUpTemporal, TemporalSetupError } from '../../temporal/setup.ts';
// Names the values that `inject` knows.
import type {} from '../support/database.ts';

function newNamespace(): TemporalConnection {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  return openTemporal({ address: inject('temporalAddress'), namespace, apiKey: null, tls: null });
}

async function schedulesOf(temporal: TemporalConnection): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of ['domains', 'reconcile', 'retention', 'segments', 'usage']) {
    const { action, policies } = await temporal.client.schedule.getHandle(`housekeeping/${name}`).describe();
    found[`housekeeping/${name}`] = `${action.workflowType} on ${action.taskQueue}, ${policies.overlap}`;
  }
  return found;
}

test('an empty server is set up, side by side and again, with the same result', async () => {
  await using temporal = newNamespace();
  expect(await checkTemporal(temporal)).toContain('does not exist');
  const both = await Promise.all([setUpTemporal(temporal, 'fernpost'), setUpTemporal(temporal, 'fernpost')]);
  expect(both.flat().filter((line) => /^Schedule .* created/.test(line))).toHaveLength(5);
  expect(await checkTemporal(temporal)).toBeNull();

  const wanted = {
    'housekeeping/domains': 'domainSweep on fernpost-bulk, SKIP',
    'housekeeping/reconcile': 'reconcile on fernpost-bulk, SKIP',
    'housekeeping/retention': 'retention on fernpost-bulk, SKIP',
    'housekeeping/segments': 'segmentSweep on fernpost-bulk, SKIP',
    'housekeeping/usage': 'usageSweep on fernpost-bulk, SKIP',
  };
  expect(await schedulesOf(temporal)).toEqual(wanted);
  const { customAttributes } = await temporal.connection.operatorService.listSearchAttributes({
    namespace: temporal.settings.namespace,
  });
  expect(Object.keys(customAttributes)).toEqual(expect.arrayContaining(Object.keys(searchAttribute)));
  const described = await temporal.connection.workflowService.describeNamespace({
    namespace: temporal.settings.namespace,
  });
  expect(Number(described.config?.workflowExecutionRetentionTtl?.seconds)).toBe(7 * 86_400);

  await temporal.client.schedule.getHandle('housekeeping/retention').pause('an operator looks into it');
  const again = await setUpTemporal(temporal, 'fernpost');
  expect(again).toEqual([
    `Namespace "${temporal.settings.namespace}" is there`,
    'Search attributes are there',
    expect.stringContaining('housekeeping/reconcile updated'),
    expect.stringContaining('housekeeping/retention updated'),
    expect.stringContaining('housekeeping/domains updated'),
    expect.stringContaining('housekeeping/usage updated'),
    expect.stringContaining('housekeeping/segments updated'),
  ]);
  expect(await schedulesOf(temporal)).toEqual(wanted);
  const { state } = await temporal.client.schedule.getHandle('housekeeping/retention').describe();
  expect(state).toMatchObject({ paused: true, note: 'an operator looks into it' });
});

test('a search attribute that exists with another type stops the set-up and is named', async () => {
  await using temporal = newNamespace();
  const { namespace } = temporal.settings;
  await temporal.connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  const int = 3;
  await expect
    .poll(
      () =>
        temporal.connection.operatorService
          .addSearchAttributes({ namespace, searchAttributes: { ProjectId: int } })
          .then(
            () => 'added',
            (error: Error) => error.message,
          ),
      { interval: 300 },
    )
    .toBe('added');
  const attempt = setUpTemporal(temporal, 'fernpost');
  await expect(attempt).rejects.toThrow(TemporalSetupError);
  await expect(attempt).rejects.toThrow('ProjectId: KEYWORD');
});
