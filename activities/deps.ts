import type { DnsLookup } from '@fernpost/domain-records';
import type { DomainProvider, Mailer } from '@fernpost/mail-providers';
import type { Payments } from '@fernpost/payments';
import type { Logger } from 'pino';
import type { buildConnector } from 'undici';
import type { Config } from '../src/core/config/config.ts';
import type { HeavyReads } from '../src/core/database/heavy-reads.ts';
import type { Database } from '../src/core/database/sql.ts';
import type { Clock } from '../src/core/lib/time.ts';
import type { Outbox } from '../src/core/outbox/dispatcher.ts';
import type { DeliveryWaker } from '../src/core/outbox/wake.ts';
import type { TellMembers } from '../src/platform/system-mail/index.ts';
import type { TemporalConnection } from '../temporal/connection.ts';

/** Everything activities are built from; made once for each worker process. */
export interface ActivityDeps {
  config: Config;
  db: Database;
  /** For what reads much of a project's data, beside the connections that deliver mail. */
  heavyReads: HeavyReads;
  mailer: Mailer;
  /** Null when the provider's account is not configured. */
  domainProvider: DomainProvider | null;
  /** Deletes messages to an address and answers how many; null where the provider has no such call. */
  eraseMessages: ((address: string) => Promise<number>) | null;
  /** Null with the sandbox, for whose domains nobody sets records. */
  dns: DnsLookup | null;
  /** Null where billing is not enabled. */
  payments: Payments | null;
  /** Sends mail of the service to the members of a project. */
  tellMembers: TellMembers;
  /** Opens connections to addresses of users; see `guardedConnector`. */
  connectOut: buildConnector.connector;
  outbox: Outbox;
  waker: DeliveryWaker;
  temporal: TemporalConnection;
  log: Logger;
  clock: Clock;
  /**
   * Aborts when the process begins to stop, seconds before its activities are cancelled: whoever works in a loop then
   * finishes what it holds, claims nothing more and throws something that is retried.
   */
  stopping: AbortSignal;
}
