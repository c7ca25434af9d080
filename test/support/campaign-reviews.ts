import { prepareBy } from '../../src/campaigns/delivery/content.ts';
import { getDryRun } from '../../src/launches/review/report.ts';
import type { DryRunReport } from '../../src/launches/review/schema.ts';
import { startDryRun } from '../../src/launches/review/service.ts';
import { systemClock } from '../../src/lib/time.ts';
import type { Outbox } from '../../src/store/outbox/dispatcher.ts';
import type { Database } from '../../src/store/sql.ts';
import { type StartCommand, workflowId } from '../../temporal/commands.ts';
import { compose } from './campaign-fixtures.ts';
import type { TestProject } from './delivery-fixtures.ts';
import type { TestWorker } from './worker.ts';

/** What reviews need, without an outbox: tests make its calls themselves. */
export function reviewDeps(db: Database, project: TestProject) {
  const outbox: Pick<Outbox, 'dispatchSoon'> = { dispatchSoon: () => undefined };
  return {
    db: db.session(),
    outbox: outbox as Outbox,
    senderDomains: async () => new Map([[project.sender.split('@')[1] ?? '', true]]),
    clock: systemClock,
    billing: { freeTier: null, publicDailyEmails: null },
    prepare: prepareBy(compose),
    showsSamples: true,
    rate: 0,
    provider: 'reviews',
  };
}

/** Writes a dry run down as the API does, and answers it with the start of its workflow. */
export async function aDryRun(db: Database, project: TestProject, campaign: string, sample: number | 'all' = 'all') {
  const report = await startDryRun(reviewDeps(db, project), project.id, campaign, { sample });
  const row = await db.row<{ command: StartCommand }>(`select payload as command from outbox where workflow_id = $1`, [
    workflowId.dryRun(campaign, report.n),
  ]);
  if (row === null) throw new Error('Nothing starts the dry run');
  return { report, start: row.command };
}

/** Reviews a campaign by a worker, and answers the report. */
export async function reviewed(
  db: Database,
  worker: TestWorker,
  project: TestProject,
  campaign: string,
  sample: number | 'all' = 'all',
): Promise<DryRunReport> {
  const { report, start } = await aDryRun(db, project, campaign, sample);
  await worker.perform(start);
  await worker.result(start.id);
  return getDryRun(reviewDeps(db, project), project.id, campaign, String(report.n));
}
