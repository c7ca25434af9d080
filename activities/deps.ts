import type { Logger } from 'pino';
import type { buildConnector } from 'undici';
import type { TellMembers } from '../src/accounts/system-mail/service.ts';
import type { Payments } from '../src/billing/payments/payments.ts';
import type { LaunchGate } from '../src/campaigns/launch.ts';
import type { DomainProvider, Mailer } from '../src/domains/providers/mailer.ts';
import type { DnsLookup } from '../src/domains/records/findings.ts';
import type { Config } from '../src/lib/config/config.ts';
import type { Clock } from '../src/lib/time.ts';
import type { HeavyReads } from '../src/store/heavy-reads.ts';
import type { Outbox } from '../src/store/outbox/dispatcher.ts';
import type { DeliveryWaker } from '../src/store/outbox/wake.ts';
import type { Database } from '../src/store/sql.ts';
import type { TemporalConnection } from '../temporal/connection.ts';

/** Everything activities are built from; made once for each worker process. */
export interface ActivityDeps {
  config: Config;
  db: Database;
  /** For what reads much of a project's data, beside the connections that deliver mail. */
  heavyReads: HeavyReads;
  /** Decisions of launches about campaigns under way. */
  launchGate: LaunchGate;
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
