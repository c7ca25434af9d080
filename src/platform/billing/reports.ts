import type { Payments } from '@fernpost/payments';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Database } from '../../core/database/sql.ts';
import { leastId } from '../../core/lib/ids.ts';
import {
  dropWaiting,
  mailToReport,
  type ReportedMail,
  type ReportedProject,
  reportedProjects,
  reportedThrough,
  reportHorizon,
  settledSince,
} from './report-queries.ts';

export interface ReportDeps {
  db: Database;
  /** Null where billing is not enabled. */
  payments: Payments | null;
  log: Pick<Logger, 'warn'>;
}

const projectsAtOnce = 100;
const mailsAtOnce = 500;
const callsInFlight = 16;

/**
 * Reports the mail that the provider took to the payment processor (docs/contract/platform.md#6-7), project by project. What is
 * noted as reported was reported; what a crash leaves open is reported again under the same identifier, which counts once.
 * Stops when `mayGoOn` says so. Answers how many mails. Rejects after all projects when one of them failed.
 */
export async function reportUsage(deps: ReportDeps, mayGoOn: () => boolean): Promise<number> {
  const { db, payments, log } = deps;
  if (payments === null) return 0;
  const until = await reportHorizon(db);
  let reported = 0;
  let failures = 0;
  for (let after = leastId; mayGoOn(); ) {
    const projects = await reportedProjects(db, after, projectsAtOnce);
    for (const project of projects) {
      after = project.projectId;
      try {
        reported += await reportProject(db, payments, project, until, mayGoOn);
      } catch (error) {
        failures += 1;
        log.warn({ err: error, projectId: project.projectId }, 'usage could not be reported; it is tried again');
      }
    }
    if (projects.length < projectsAtOnce) break;
  }
  if (failures > 0) throw new Error(`The usage of ${failures} projects could not be reported`);
  return reported;
}

async function reportProject(
  db: Database,
  payments: Payments,
  project: ReportedProject,
  until: Date,
  mayGoOn: () => boolean,
): Promise<number> {
  let reported = 0;
  for (let place = project; mayGoOn(); ) {
    const mails = await mailToReport(db, place, until, mailsAtOnce);
    const last = mails.at(-1);
    if (last === undefined) break;
    reported += await report(payments, project.customer, mails);
    const waiting = mails.filter(({ waits }) => waits).map(({ id }) => id);
    await reportedThrough(db, place, last.id, waiting);
    place = { ...place, through: last.id };
  }
  while (mayGoOn()) {
    const settled = await settledSince(db, project.projectId, mailsAtOnce);
    if (settled.length === 0) break;
    reported += await report(payments, project.customer, settled);
    const ids = settled.map(({ id }) => id);
    await dropWaiting(db, project.projectId, ids);
  }
  return reported;
}

async function report(payments: Payments, customer: string, mails: readonly ReportedMail[]): Promise<number> {
  const charged = mails.filter(({ counts }) => counts);
  await pLimit(callsInFlight).map(charged, ({ id, credits, at }) =>
    payments.report({ identifier: `email_${id}`, customer, credits, at: new Date(at) }),
  );
  return charged.length;
}
