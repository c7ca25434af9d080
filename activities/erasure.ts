import { cancellationSignal } from '@temporalio/activity';
import type { Logger } from 'pino';
import { type CertificateReport, certify, type Retentions } from '../src/insight/erasures/certificate.ts';
import { addressesOf, noteProvider } from '../src/insight/erasures/service.ts';
import { type ErasureState, eraseRows } from '../src/insight/erasures/work.ts';
import { findWipe } from '../src/insight/wipes/queries.ts';
import { endWipe, type WipeReport, wipeRows } from '../src/insight/wipes/wipe.ts';
import type { Database } from '../src/store/sql.ts';
import { alive } from './mail.ts';

interface ErasureActivityDeps {
  db: Database;
  log: Logger;
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
  encryptionKeys: readonly string[];
  retentions: Retentions;
  /** Deletes messages to an address at the provider and answers how many; null where the provider has no such call. */
  eraseMessages: ((address: string) => Promise<number>) | null;
  /** Milliseconds after which an activity hands the rest of the work to the next one. */
  longestMs?: number;
}

/** The activities of erasures, as workflows call them. */
export type ErasureActivities = ReturnType<typeof erasureActivities>;

const defaultShareMs = 60_000;
const heartbeatMs = 2_000;

/** Builds the activities of erasures. All may be repeated: the row says where the work stands. */
export function erasureActivities(deps: ErasureActivityDeps) {
  const { db, log, stopping, encryptionKeys, eraseMessages, retentions, longestMs = defaultShareMs } = deps;
  return {
    /** Empties rows until none is left, its share of time is over, or something has to be waited for. */
    eraseContactRows: (erasureId: string): Promise<ErasureState> =>
      alive(heartbeatMs, (onStep) => {
        const stop = AbortSignal.any([stopping, cancellationSignal()]);
        return eraseRows(db, erasureId, { encryptionKeys, longestMs: longestMs, stop, onStep: () => onStep(null) });
      }),

    /** Deletes the contact's messages at a provider that can do so. */
    async eraseAtProvider(erasureId: string): Promise<void> {
      if (eraseMessages === null) return;
      let messages = 0;
      const addresses = await addressesOf(db, erasureId, encryptionKeys);
      for (const address of addresses) messages += await eraseMessages(address);
      if (addresses.length > 0) await noteProvider(db, erasureId, messages);
    },

    /** Issues the certificate; answers how long until it can be completed, null when it is final. */
    certifyErasure: (erasureId: string): Promise<CertificateReport> =>
      alive(heartbeatMs, async () => {
        const report = await certify(db, erasureId, { encryptionKeys, retentions, now: new Date() });
        log.info({ erasureId, waitMs: report.waitMs }, 'an erasure was certified');
        return report;
      }),
  };
}

interface WipeActivityDeps {
  db: Database;
  log: Logger;
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
  /** Ends every open execution of a project; answers how many were found. */
  endExecutions(projectId: string): Promise<number>;
  /** Cancels a payment subscription. */
  cancelSubscription(subscription: string): Promise<void>;
  /** Milliseconds after which an activity hands the rest of the work to the next one. */
  longestMs?: number;
}

/** The activities of resets and removals of projects, as workflows call them. */
export type WipeActivities = ReturnType<typeof wipeActivities>;

/** Builds the activities of resets and removals of projects. All may be repeated: the row says where the work stands. */
export function wipeActivities({
  db,
  log,
  stopping,
  endExecutions,
  cancelSubscription,
  longestMs = defaultShareMs,
}: WipeActivityDeps) {
  return {
    /** Ends what runs for the project; answers how many executions that were. */
    async endProjectExecutions(wipeId: string): Promise<number> {
      const wipe = await findWipe(db, wipeId);
      return wipe === null ? 0 : endExecutions(wipe.projectId);
    },

    /** Removes rows until none is left or its share of time is over. */
    wipeProjectRows: (wipeId: string): Promise<WipeReport> =>
      alive(heartbeatMs, (onStep) => {
        const stop = AbortSignal.any([stopping, cancellationSignal()]);
        return wipeRows(db, wipeId, { longestMs: longestMs, stop, onStep });
      }),

    /** Ends the wipe: the project may be written to again, or is no more. */
    async finishProjectWipe(wipeId: string): Promise<void> {
      const finished = await endWipe(db, wipeId, async (subscription) => {
        await cancelSubscription(subscription).catch((error: Error) =>
          log.error({ err: error, wipeId }, 'the payment subscription of a deleted project could not be cancelled'),
        );
      });
      if (finished) log.info({ wipeId }, 'a project was wiped');
    },
  };
}
