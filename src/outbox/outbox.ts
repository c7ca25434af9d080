import type { StartCommand } from '../../temporal/commands.ts';
import type { Sql } from '../db/sql.ts';
import type { OutboxTicket } from './enqueue.ts';

/** Makes the calls that the outbox asks for. One for each process. */
export interface Outbox {
  /**
   * Makes the calls behind the tickets soon and in the background: call it after the commit, never inside the
   * transaction. Never throws; what fails stays in the outbox for the relay.
   */
  dispatchSoon(...tickets: OutboxTicket[]): void;
  /** Makes up to `limit` calls that are due, of any process. Answers how many rows it took. */
  dispatchDue(limit: number): Promise<number>;
  /** Resolves when nothing that this process began is under way. */
  drain(): Promise<void>;
  /** Takes nothing more and drains. */
  close(): Promise<void>;
}

/**
 * Decides about an execution that a signal did not find: reads the row behind the workflow id and answers the start that
 * continues it (its `restart` key is set by the caller), or null when the row is finished or gone.
 */
export type Revive = (sql: Sql, workflowId: string) => Promise<StartCommand | null>;

/** A `Revive` for each kind of workflow id, by its first part: `{ campaign: … }` for `campaign/<id>/<seq>`. */
export type Revivers = Readonly<Record<string, Revive>>;

/** Wakes the delivery of a project's mail. */
export interface DeliveryWaker {
  /**
   * Says that the project has mail in `email_queue`; call it after the commit. Never throws: wakes within a few
   * milliseconds are one signal, and a sweep in the worker finds what a lost one left.
   */
  wake(projectId: string): void;
  /** Resolves when no wake is under way. */
  drain(): Promise<void>;
}
