import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'valibot';
import { expect, test } from 'vitest';
import { simulateSome } from '../../src/automations/simulation/job.ts';
import { SimulateWorkflow, type SimulationResult } from '../../src/automations/simulation/schema.ts';
import { getSimulation, queueSimulation } from '../../src/automations/simulation/service.ts';
import { changeContacts } from '../../src/imports/bulk.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';
import { earlierRelease } from '../support/earlier-release.ts';
import { testSimulations } from '../support/jobs.ts';
import { inFull } from '../support/long.ts';
import { loadRecorded, type RecordedExecutions, recordExecutions } from '../support/recorded-executions.ts';

// Executions that the release with the earlier name recorded: by its API, its enroller and its interpreter (test/support/recording-child.ts). Its database
// is migrated, and the simulation of today has to repeat all of them by what it finds there. RECORD_EXECUTIONS=1 records the file anew.
const file = new URL('../data/earlier-executions.json.br', import.meta.url);
const seed = Number(process.env.TEST_SEED ?? 20_261_129);
// However long ago they were recorded.
const deps = { ...testSimulations, keptDays: 36_500 };

type Agreement = NonNullable<NonNullable<SimulationResult['comparison']>['agreement']>;

async function agreementOf({ db }: TestDatabase, { projectId, from, until }: RecordedExecutions, id: string) {
  const asked = parse(SimulateWorkflow, { over: { event: { from, until } }, horizon: '365d', compareWith: 'actual' });
  const { body } = await queueSimulation(db, projectId, id, asked);
  const share = { stop: new AbortController().signal, longestMs: 600_000, onStep() {} };
  await changeContacts(db, body.jobId, share, null, (store, job, place) => simulateSome(store, deps, job, place));
  const { result, failedReason } = await getSimulation(db, projectId, id, body.jobId);
  expect(failedReason).toBeNull();
  const { comparison, ends, steps } = result ?? {};
  if (!comparison?.agreement) throw new Error('A comparison with what was recorded says whether it agrees');
  return { agreement: comparison.agreement, ends: ends ?? {}, steps: steps ?? [] };
}

/** Simulates the executions of so many workflows; all must agree. Answers what came up. */
async function expectAgreement(database: TestDatabase, recorded: RecordedExecutions, workflows: number) {
  const met = new Map<string, number>();
  const count = (what: string, by: number) => met.set(what, (met.get(what) ?? 0) + by);
  const differences: Agreement['differences'] = [];
  const ids = (recorded.tables.automations?.id ?? []) as string[];
  for (const id of ids.slice(0, workflows)) {
    const { agreement, ends, steps } = await agreementOf(database, recorded, id);
    count('agree', agreement.agree);
    count('compared', agreement.compared);
    for (const [why, times] of Object.entries(agreement.notComparable)) count(`not comparable: ${why}`, times);
    differences.push(...agreement.differences);
    for (const [end, times] of Object.entries(ends)) count(end, Number(times));
    for (const { type, reached, paths } of steps) {
      count(type, reached);
      for (const [path, times] of Object.entries(paths)) count(path, Number(times));
    }
  }
  console.log(`${met.get('agree')} of ${met.get('compared')} runs agree`);
  expect(differences).toEqual([]);
  expect(met.get('agree')).toBe(met.get('compared'));
  for (const what of [
    ...['COMPLETED', 'EXITED', 'FAILED', 'EVENT', 'TIMEOUT', 'yes', 'no', 'default', 'success', 'failure'],
    ...['TRIGGER', 'CONDITION', 'DELAY', 'WAIT_FOR_EVENT', 'UPDATE_CONTACT', 'SEND_EMAIL', 'WEBHOOK', 'EXIT'],
  ])
    expect([what, met.get(what) ?? 0]).toEqual([what, expect.toSatisfy((times: number) => times > 0)]);
  return met;
}

async function recordAnew(target: string, graphs: number, each: number, by: number): Promise<boolean> {
  const folder = await earlierRelease();
  if (folder === null) return false;
  console.log(`recorded with the seed ${by}`);
  await using database = await emptyDatabase();
  await recordExecutions(folder, database.url, { file: target, graphs, each, seed: by });
  return true;
}

const most = inFull(5_000, 500);

test(`${most.toLocaleString('en')} executions that a service of 01ce82dd recorded agree, step by step at the same instants`, async () => {
  if (process.env.RECORD_EXECUTIONS === '1') expect(await recordAnew(file.pathname, 500, 11, seed)).toBe(true);
  await using database = await emptyDatabase();
  const recorded = await loadRecorded(database.url, file);
  const met = await expectAgreement(database, recorded, inFull(500, 50));
  expect(met.get('compared')).toBeGreaterThanOrEqual(most);
});

test('and so do those that it records now, of other graphs', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-recorded-'));
  try {
    const target = join(folder, 'executions.json.br');
    if (!(await recordAnew(target, 50, 11, Date.now() % 2 ** 31)))
      return context.skip(
        'the release with the earlier name is not here: set UPGRADE_FROM to its folder, or FULL_TESTS=1',
      );
    await using database = await emptyDatabase();
    await expectAgreement(database, await loadRecorded(database.url, target), 50);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
