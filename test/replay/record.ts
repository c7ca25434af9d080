/**
 * Records the histories that `replay.test.ts` replays: `node test/replay/record.ts` runs every case of `cases/` that has no
 * file in `histories/` yet, on a Temporal server of its own and with activities that answer what the case says.
 *
 * A file stands for executions that are open somewhere with the code of that day, so a new version gets new cases beside the
 * old files. `node test/replay/record.ts <case> …` records the named cases anew, which is right only while no release has
 * the workflow that they show.
 */

import { fileURLToPath } from 'node:url';
import { dynamicConfig, findTemporalCli, openTerminal } from '@fernpost/local-stack';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { installTemporalRuntime } from '../../src/main/worker/temporal-workers.ts';
import { openTemporal } from '../../temporal/connection.ts';
import { prepareNamespace } from '../../temporal/setup.ts';
import { automationCases } from './cases/automation.ts';
import { campaignSendCases } from './cases/campaign-send.ts';
import type { ReplayCase } from './cases/case.ts';
import { dryRunCases } from './cases/dry-run.ts';
import { emailDeliveryCases } from './cases/email-delivery.ts';
import { erasureCases } from './cases/erase-contact.ts';
import { jobCases } from './cases/jobs.ts';
import { sweepCases } from './cases/sweeps.ts';
import { systemMailCases } from './cases/system-mail.ts';
import { webhookFeedCases } from './cases/webhook-feed.ts';
import { wipeCases } from './cases/wipe-project.ts';
import { savedHistories, saveHistories } from './histories.ts';
import { startRecorder } from './recorder.ts';

// A busy server lets steps time out, and the history shows that instead of the case.
const atOnce = 4;
const cases = [
  ...automationCases,
  ...emailDeliveryCases,
  ...campaignSendCases,
  ...dryRunCases,
  ...erasureCases,
  ...jobCases,
  ...sweepCases,
  ...systemMailCases,
  ...webhookFeedCases,
  ...wipeCases,
];
const named = process.argv.slice(2);
const unknown = named.filter((name) => !cases.some((one) => one.name === name));
if (unknown.length > 0) throw new Error(`There is no case ${unknown.join(', ')}`);
const saved = savedHistories().map(({ name }) => name);
const chosen = cases.filter(({ name, runs }) =>
  named.length > 0 ? named.includes(name) : !saved.includes(runs === undefined ? name : `${name}-1`),
);

const terminal = openTerminal();
installTemporalRuntime(pino({ level: process.env.LOG_LEVEL ?? 'silent' }), null);
await using environment = await ownServer();
await using temporal = openTemporal({ address: environment.address, namespace: 'default', apiKey: null, tls: null });
await prepareNamespace(temporal);
await using recorder = await startRecorder(temporal, chosen);
const waiting = [...chosen];
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await save(one);
  }),
);

async function save(one: ReplayCase): Promise<void> {
  try {
    const runs = await recorder.record(one);
    saveHistories(one.name, runs);
    terminal.line(`${one.name}: ${runs.map(({ events }) => events?.length).join(' + ')} events`);
  } catch (error) {
    terminal.line(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

// Histories that continue as new would be long if the server asked for that when it usually does, after 4,096 events.
async function ownServer(): Promise<TestWorkflowEnvironment & AsyncDisposable> {
  const cli = await findTemporalCli({
    env: process.env,
    setting: process.env.TEMPORAL_CLI || null,
    fallbackCache: fileURLToPath(new URL('../../.cache', import.meta.url)),
    terminal,
    signal: new AbortController().signal,
  });
  const settings = { ...dynamicConfig, 'limit.historyCount.suggestContinueAsNew': 100 };
  const server = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path: cli.path },
      ip: '127.0.0.1',
      log: { format: 'pretty', level: 'error' },
      extraArgs: Object.entries(settings).flatMap(([name, value]) => ['--dynamic-config-value', `${name}=${value}`]),
    },
  });
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.teardown() });
}
