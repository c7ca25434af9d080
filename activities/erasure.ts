import { cancellationSignal } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Database } from '../src/core/database/sql.ts';
import {
  addressesOf,
  type CertificateReport,
  certify,
  type ErasureState,
  eraseRows,
  noteProvider,
  type Retentions,
} from '../src/insight/erasures/index.ts';
import { alive } from './alive.ts';

/** What the activities of erasures are built from. */
export interface ErasureActivityDeps {
  db: Database;
  log: Logger;
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
  encryptionKeys: readonly string[];
  retentions: Retentions;
  /** Deletes messages to an address at the provider and answers how many; null where the provider has no such call. */
  eraseMessages: ((address: string) => Promise<number>) | null;
  /** Milliseconds after which an activity hands the rest of the work to the next one. */
  shareMs?: number;
}

/** The activities of erasures, as workflows call them. */
export type ErasureActivities = ReturnType<typeof erasureActivities>;

const defaultShareMs = 60_000;
const heartbeatMs = 2_000;

/** Builds the activities of erasures. All may be repeated: the row says where the work stands. */
export function erasureActivities(deps: ErasureActivityDeps) {
  const { db, log, stopping, encryptionKeys, eraseMessages, retentions, shareMs = defaultShareMs } = deps;
  return {
    /** Empties rows until none is left, its share of time is over, or something has to be waited for. */
    eraseContactRows: (erasureId: string): Promise<ErasureState> =>
      alive(heartbeatMs, (onStep) => {
        const stop = AbortSignal.any([stopping, cancellationSignal()]);
        return eraseRows(db, erasureId, { encryptionKeys, longestMs: shareMs, stop, onStep: () => onStep(null) });
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
