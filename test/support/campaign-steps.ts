import pLimit from 'p-limit';
import { pino } from 'pino';
import { expect } from 'vitest';
import { loadExpansion } from '../../src/campaigns/audience/expansion.ts';
import { expandFrom } from '../../src/campaigns/audience/freeze.ts';
import { prepareBy } from '../../src/campaigns/delivery/content.ts';
import { launchGate } from '../../src/launches/gate.ts';
import { reviewShare } from '../../src/launches/review/dry-run.ts';
import type { DryRunReport } from '../../src/launches/review/schema.ts';
import type { Database } from '../../src/store/sql.ts';
import type { TestApi, TestProject } from './api.ts';
import { compose, ledgerOf } from './campaign-fixtures.ts';

// The steps of a worker, which tests without one take, so that something can change between them.

/** Reviews a campaign to the end, and answers the report. `options` is the body of the request. */
export async function reviewedBySteps(
  db: Database,
  api: TestApi,
  project: TestProject,
  id: string,
  options?: object,
): Promise<DryRunReport & { fingerprint: string }> {
  const call = (method: string, path: string, body?: unknown) => api.call(project.secretKey, method, path, body);
  const { status, body } = await call('POST', `/campaigns/${id}/dry-run`, options);
  expect(status).toBe(202);
  const { n } = body.data;
  const run = await db.row<{ id: string }>('select id from dry_runs where campaign_id = $1 and n = $2', [id, n]);
  const deps = {
    db,
    heavyReads: { of: () => db },
    log: pino({ level: 'silent' }),
    prepare: prepareBy(compose),
    rendering: pLimit(1),
    chunk: 4,
    rest: 0,
  };
  const never = new AbortController().signal;
  await reviewShare(deps, run?.id ?? '', { stop: never, longestMs: 60_000, onPage: () => undefined });
  const report = await call('GET', `/campaigns/${id}/dry-runs/${n}`);
  expect(report.body.data).toMatchObject({ state: 'DONE', fingerprint: expect.any(String) });
  return report.body.data;
}

/** Freezes the audience of the send that was started, and answers how many rows of its ledger have which verdict. */
export async function frozenBySteps(db: Database, id: string): Promise<Record<string, number>> {
  const send = await loadExpansion(db, id, 1);
  if (send === null) throw new Error('Nothing is being sent');
  const deps = {
    db,
    billing: { freeTier: null, publicDailyEmails: null },
    clock: () => new Date(),
    launchGate,
    cursors: pLimit(1),
    expansionPage: 3,
  };
  await expandFrom(deps, send, () => undefined);
  return ledgerOf(db, id);
}
