import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '../../../src/lib/config/config.ts';
import type { TemporalConnection } from '../../../temporal/connection.ts';
import { deploymentName, VersionRouting } from '../../../temporal/versions.ts';

// What a worker decides, by answers of a server; test/workflows/worker-versions.test.ts has a real one.
interface Server {
  current: string | null;
  /** When the current version became that, in seconds. */
  since: number;
  /** Versions that have been current, and those that have not. */
  known: Record<string, boolean>;
  /** Seconds since the last poll, by version; '' stands for workers without one. */
  polls: Record<string, number>;
  queuesSeen: number;
  /** How many queues have yet to follow the last change. */
  queuesBehind: number;
  refusal: { code: number; details: string } | null;
  calls: { buildId: string; ignoreMissingTaskQueues: boolean }[];
}

function routingOf(buildId: string | null, state: Partial<Server>) {
  const server: Server = {
    ...{
      current: 'r1',
      since: 1,
      known: { r1: true, r2: false },
      polls: { r1: 5, r2: 5 },
      queuesSeen: 2,
      refusal: null,
    },
    queuesBehind: 0,
    ...{ calls: [], ...state },
  };
  const failure = (code: number, details: string) => Object.assign(new Error(details), { code, details });
  const workflowService = {
    async describeWorkerDeployment() {
      if (Object.keys(server.known).length === 0) throw failure(5, 'no deployment');
      return {
        conflictToken: new Uint8Array(),
        workerDeploymentInfo: {
          routingConfig: {
            currentDeploymentVersion: server.current === null ? null : { buildId: server.current },
            currentVersionChangedTime: { seconds: server.since, nanos: 0 },
          },
          versionSummaries: Object.entries(server.known).map(([id, wasCurrent]) => ({
            deploymentVersion: { buildId: id },
            firstActivationTime: wasCurrent ? { seconds: 1 } : null,
          })),
        },
      };
    },
    describeWorkerDeploymentVersion: async () => ({
      versionTaskQueues: [1, 2].slice(0, server.queuesSeen).map((type) => ({ name: 'acme-mail', type })),
    }),
    describeTaskQueue: async ({ taskQueueType }: { taskQueueType: number }) => ({
      versioningInfo: {
        currentDeploymentVersion:
          server.current === null ? null : { buildId: taskQueueType <= server.queuesBehind ? 'r1' : server.current },
      },
      pollers: Object.entries(server.polls).map(([id, seconds]) => ({
        lastAccessTime: { seconds: Date.now() / 1000 - seconds },
        deploymentOptions:
          id === '' ? null : { deploymentName: 'acme', buildId: id, workerVersioningMode: 2 satisfies number },
      })),
    }),
    async setWorkerDeploymentCurrentVersion(call: Server['calls'][number]) {
      if (server.refusal) throw failure(server.refusal.code, server.refusal.details);
      server.calls.push(call);
      server.current = call.buildId || null;
      server.since += 1;
    },
  };
  const temporal = {
    settings: { namespace: 'default', address: 'temporal.acme.test:7233' },
    within: (_ms: number, calls: () => Promise<unknown>) => calls(),
    connection: { workflowService },
  } as unknown as TemporalConnection;
  const lines: string[] = [];
  const routing = new VersionRouting({
    ...{ temporal, buildId, queuePrefix: 'acme', queues: [{ taskQueue: 'acme-mail', maxCachedWorkflows: 2 }] },
    log: pino({}, { write: (line: string) => lines.push(line) }),
  });
  const checks = async (times: number) => {
    for (let n = 0; n < times; n += 1) await routing.check();
    return server.calls.map((call) => call.buildId);
  };
  return { server, routing, checks, lines };
}

test('a version that has never been current takes over once Temporal has seen all of its queues', async () => {
  const { server, routing, checks } = routingOf('r2', { queuesSeen: 1 });
  expect([await checks(2), routing.isSettled()]).toEqual([[], false]);
  server.queuesSeen = 2;
  expect([await checks(3), routing.isSettled()]).toEqual([['r2'], true]);
  expect(server.calls[0]?.ignoreMissingTaskQueues).toBe(false);
});

test('a version is ready once all queues lead their tasks to it', async () => {
  const { server, routing, checks } = routingOf('r2', { queuesBehind: 2 });
  expect([await checks(3), routing.isSettled()]).toEqual([['r2'], false]);
  server.queuesBehind = 1;
  expect([await checks(1), routing.isSettled()]).toEqual([['r2'], false]);
  server.queuesBehind = 0;
  expect([await checks(1), routing.isSettled()]).toEqual([['r2'], true]);
});

test('a version that became current again between two checks is ready once the queues follow again', async () => {
  const { server, routing, checks, lines } = routingOf('r2', { current: 'r2', known: { r1: true, r2: true } });
  expect([await checks(1), routing.isSettled()]).toEqual([[], true]);
  // Another process made it current in a store that was set back to the version before.
  Object.assign(server, { since: 2, queuesBehind: 1 });
  expect([await checks(1), routing.isSettled()]).toEqual([[], false]);
  server.queuesBehind = 0;
  expect([await checks(2), routing.isSettled(), lines.length]).toEqual([[], true, 3]);
});

test('one that has been current waits while the current one has workers, and takes over when they are gone at two checks', async () => {
  const { server, routing, checks } = routingOf('r1', { current: 'r2', known: { r1: true, r2: true } });
  expect([await checks(3), routing.isSettled()]).toEqual([[], true]);
  server.polls = { r1: 5, r2: 91 };
  expect(await checks(1)).toEqual([]);
  expect(await checks(1)).toEqual(['r1']);
  expect(server.calls[0]?.ignoreMissingTaskQueues).toBe(true);
});

test('a server that has just started, and has seen nobody, changes nothing', async () => {
  const { server, checks } = routingOf('r1', { current: 'r2', known: { r1: true, r2: true }, polls: {} });
  expect(await checks(3)).toEqual([]);
  server.polls = { r1: 5 };
  await checks(1);
  server.polls = { r1: 5, r2: 5 };
  expect(await checks(3)).toEqual([]);
});

test('workers without a build ID take over from a version that is gone, and need no deployment', async () => {
  const { server, checks } = routingOf(null, { polls: { '': 5, r1: 5 } });
  expect(await checks(3)).toEqual([]);
  server.polls = { '': 5 };
  expect(await checks(2)).toEqual(['']);
  const plain = routingOf(null, { known: {} });
  expect([await plain.checks(2), plain.routing.isSettled(), plain.lines]).toEqual([[], true, []]);
});

test('a deployment that somebody else manages is left to them; a refusal that stays is told once', async () => {
  const details = "ManagerIdentity 'ops' is set and does not match user identity 'worker'";
  const managed = routingOf('r2', { refusal: { code: 9, details } });
  expect([await managed.checks(2), managed.routing.isSettled(), managed.lines.length]).toEqual([[], true, 1]);
  const refused = routingOf('r2', { refusal: { code: 9, details: 'is missing active task queues' } });
  expect([await refused.checks(2), refused.routing.isSettled(), refused.lines.length]).toEqual([[], false, 1]);
});

test('the name of the deployment is that of the queues, as far as Temporal allows', () => {
  expect(['fernpost', 'mail.eu:1'].map(deploymentName)).toEqual(['fernpost', 'mail-eu-1']);
});

test('a build ID that Temporal or a search would not take is refused', () => {
  expect(() => readConfig({ TEMPORAL_BUILD_ID: 'r1"' })).toThrow('TEMPORAL_BUILD_ID');
  expect(readConfig({ TEMPORAL_BUILD_ID: '' }).TEMPORAL_BUILD_ID).toBeNull();
  expect(readConfig({ TEMPORAL_BUILD_ID: '0.3.0-5f2c1e9' }).TEMPORAL_BUILD_ID).toBe('0.3.0-5f2c1e9');
});
