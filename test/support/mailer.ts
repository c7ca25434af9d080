import { randomUUID } from 'node:crypto';
import type { Accepted, Mailer, OutgoingMessage, Verdict } from '../../src/domains/providers/mailer.ts';
import { pause } from '../../src/lib/time.ts';
import { type PlainMessage, textsOf } from '../unit/mail-providers/messages.ts';

/** How the fake provider misbehaves. All counts are of `send` calls, from the first on. */
export interface FakeMailerOptions {
  /** So many calls fail as a whole: nothing is taken. `status` names the answer. */
  outages?: number;
  /** What an outage looks like: 503 (retry), 429 (asks for 20 ms), 401 (account refused). 503 when absent. */
  outage?: 503 | 429 | 401;
  /** So many calls, after the outages, are taken although their answer is lost. */
  dropAnswers?: number;
  /** So many calls, after the outages, are lost before the provider takes them, and nobody can tell. */
  lostCalls?: number;
  /** Addresses that are refused, with the provider's code; 406 means an inactive recipient. */
  rejects?: Record<string, number>;
  /** Searches that fail before one answers. */
  failedSearches?: number;
  /** How long a call takes, in milliseconds. */
  latencyMs?: number;
  /** Messages in one call at most; more are the caller's mistake here. 500 when absent. */
  maxBatchMessages?: number;
  name?: string;
}

/** What the fake provider took: the message, under which claim, and the id it gave. */
export interface TakenMessage {
  claimId: string;
  messageId: string;
  at: string;
  message: PlainMessage;
}

/** A mail provider in memory that keeps what it takes, for tests. */
export class FakeMailer implements Mailer {
  readonly name: string;
  readonly maxBatchMessages: number;
  readonly maxBatchBytes = 45 * 1024 * 1024;
  readonly maxMessageBytes = 10 * 1024 * 1024;
  /** Every message taken, in order; one that is taken twice stands here twice. */
  readonly taken: TakenMessage[] = [];
  /** Sizes of the calls, failed ones too. */
  readonly calls: number[] = [];
  /** Claims that were searched for. */
  readonly searches: string[] = [];
  /** Called while a call is under way, before the provider takes anything. */
  onCall: (claimId: string, messages: readonly OutgoingMessage[]) => void | Promise<void> = () => undefined;
  /** Called after the provider took the messages, before its answer arrives. */
  onTaken: (claimId: string, messages: readonly OutgoingMessage[]) => void | Promise<void> = () => undefined;
  readonly options: FakeMailerOptions;

  constructor(options: FakeMailerOptions = {}) {
    this.options = { ...options };
    this.name = options.name ?? 'fake';
    this.maxBatchMessages = options.maxBatchMessages ?? 500;
  }

  /** The messages taken, without what surrounds them. */
  get sent(): PlainMessage[] {
    return this.taken.map(({ message }) => message);
  }

  /** Addresses in the order in which they were taken. */
  get recipients(): string[] {
    return this.taken.map(({ message }) => message.to.address);
  }

  async send(claimId: string, messages: readonly OutgoingMessage[]): Promise<Verdict[]> {
    this.calls.push(messages.length);
    await this.onCall(claimId, messages);
    if (this.options.latencyMs) await pause(this.options.latencyMs);
    if (this.#spend('outages')) return messages.map(() => this.#outage());
    if (this.#spend('lostCalls')) return messages.map(() => ({ kind: 'unknown', reason: 'the call was lost' }));
    const verdicts = messages.map((message) => this.#take(claimId, message));
    await this.onTaken(claimId, messages);
    if (this.#spend('dropAnswers')) return messages.map(() => ({ kind: 'unknown', reason: 'the answer was lost' }));
    return verdicts;
  }

  async accepted(claimId: string): Promise<Accepted> {
    this.searches.push(claimId);
    if (this.#spend('failedSearches')) throw new Error('the search does not answer');
    return new Map(
      this.taken
        .filter((taken) => taken.claimId === claimId)
        .map(({ message, messageId, at }) => [message.emailId, { messageId, at }]),
    );
  }

  #take(claimId: string, message: OutgoingMessage): Verdict {
    const code = this.options.rejects?.[message.to.address];
    if (code !== undefined) return { kind: 'rejected', code, reason: `refused with ${code}`, inactive: code === 406 };
    const taken = { claimId, message: textsOf(message), messageId: randomUUID(), at: new Date().toISOString() };
    this.taken.push(taken);
    return { kind: 'accepted', messageId: taken.messageId, at: taken.at };
  }

  #outage(): Verdict {
    const status = this.options.outage ?? 503;
    const reason = `provider answers ${status}`;
    if (status === 401) return { kind: 'retry', reason, afterMs: null, scope: 'account' };
    return { kind: 'retry', reason, afterMs: status === 429 ? 20 : null, scope: 'call' };
  }

  #spend(what: 'outages' | 'dropAnswers' | 'lostCalls' | 'failedSearches'): boolean {
    const left = this.options[what] ?? 0;
    if (left <= 0) return false;
    this.options[what] = left - 1;
    return true;
  }
}
