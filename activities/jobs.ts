import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { enrollSome } from '../src/automations/enrollment/past.ts';
import { startsUnderWay } from '../src/automations/runtime/recovery.ts';
import { simulateSome } from '../src/automations/simulation/job.ts';
import type { SimulationDeps } from '../src/automations/simulation/share.ts';
import { foldContactChanges } from '../src/contacts/catalogue-queries.ts';
import {
  changeContacts,
  type Enrolling,
  type Share,
  type ShareReport,
  type Simulating,
  shareReportOf,
} from '../src/imports/bulk.ts';
import { importRows } from '../src/imports/import.ts';
import { findJob, finishJob, markDelayed } from '../src/imports/queries.ts';
import { deliverWebhooks, type WebhookDeps, type WebhookReport } from '../src/insight/webhooks/deliver.ts';
import { KeyedTurns } from '../src/lib/keyed-turns.ts';
import type { OutboxTicket } from '../src/store/outbox/queries.ts';
import type { Database } from '../src/store/sql.ts';
import { alive } from './mail.ts';

export interface JobActivityDeps {
  db: Database;
  log: Logger;
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
  /** Find the addresses that were erased, which no import brings back. */
  encryptionKeys: readonly string[];
  /** Setting WORKFLOW_STARTS_PER_CONTACT_PER_HOUR. */
  startsPerHour: number;
  simulations: SimulationDeps;
  /** Makes the calls behind the tickets soon. */
  dispatchSoon(...tickets: OutboxTicket[]): void;
  /** Milliseconds after which an activity hands the rest of the work to the next one. */
  longestMs?: number;
}

/** The activities of imports and bulk changes, as workflows call them. */
export type JobActivities = ReturnType<typeof jobActivities>;

// Long enough for nearly every file, short enough that a run shows progress in the Web UI.
const defaultShareMs = 60_000;
const heartbeatMs = 2_000;

/** Builds the activities of imports and bulk changes. Both may be repeated: the row says where the work stands. */
export function jobActivities(deps: JobActivityDeps) {
  const { db, log, stopping, encryptionKeys, startsPerHour, longestMs = defaultShareMs } = deps;
  const underWay = startsUnderWay(db);
  const enrolling: Enrolling = {
    enrollSome: (tx, job, most) => enrollSome(tx, job, { most, startsPerHour }),
    remaining: () => underWay.remaining(),
    begin(tickets, runs) {
      for (const id of runs) underWay.add(id);
      deps.dispatchSoon(...tickets);
    },
  };
  const simulating: Simulating = (store, id, position) => simulateSome(store, deps.simulations, id, position);
  // Another import of the project does not wait here, in the place of an import of somebody else.
  const imports = new KeyedTurns({ atOnce: 1 });
  return {
    /** Imports rows of a job's file until none is left or its share of time is over; not while another of the project is imported here. */
    async importContactRows(jobId: string): Promise<ShareReport> {
      const job = await findJob(db, jobId);
      const share = () => work(jobId, (store, id, part) => importRows(store, id, part, encryptionKeys));
      if (job === null) return share();
      return (await imports.tryRun(job.projectId, share)) ?? shareReportOf(job, 'busy');
    },

    /** Changes, or simulates, contacts of a job until none is left or its share of time is over. */
    changeContactRows: (jobId: string): Promise<ShareReport> =>
      work(jobId, (store, id, part) => changeContacts(store, id, part, enrolling, simulating)),

    /** Ends a job as failed, for a reason that users understand; what it did stays done. */
    async failJob(jobId: string, reason: string): Promise<void> {
      if (await finishJob(db, jobId, reason)) log.warn({ jobId, reason }, 'a job failed');
    },
  };

  async function work(
    jobId: string,
    run: (db: Database, jobId: string, share: Share) => Promise<ShareReport>,
  ): Promise<ShareReport> {
    try {
      const stop = AbortSignal.any([stopping, cancellationSignal()]);
      const report = await alive(heartbeatMs, (onStep) => run(db, jobId, { stop, longestMs: longestMs, onStep }));
      if (report.state === 'superseded')
        throw ApplicationFailure.retryable('Another worker has moved this job; it is checked again', 'Superseded');
      if (report.state === 'finished') await catchUp(jobId);
      return report;
    } catch (error) {
      await markDelayed(db, jobId).catch(() => undefined);
      throw error;
    }
  }

  // The next reader of the fields would have to do it, and a job may have changed very many contacts.
  async function catchUp(jobId: string): Promise<void> {
    const job = await findJob(db, jobId);
    if (job !== null) await foldContactChanges(db, job.projectId);
  }
}

/** The activities of webhooks out, as workflows call them. */
export type WebhookFeedActivities = ReturnType<typeof webhookFeedActivities>;

/** Builds the activities of webhooks out. */
export function webhookFeedActivities(deps: WebhookDeps & { stopping: AbortSignal }) {
  return {
    /** Queues and delivers events of an endpoint for up to half a minute. Safe to repeat. */
    async deliverWebhooks(endpointId: string): Promise<WebhookReport> {
      const alive = setInterval(heartbeat, heartbeatMs);
      try {
        return await deliverWebhooks(deps, endpointId, AbortSignal.any([deps.stopping, cancellationSignal()]));
      } finally {
        clearInterval(alive);
      }
    },
  };
}
