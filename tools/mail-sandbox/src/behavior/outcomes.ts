import type { EventType } from '../schema.ts';
import type { Entry, MailEvent } from '../store/entry.ts';
import type { MessageStore } from '../store/store.ts';
import { treatmentOf } from './check.ts';
import { findLinks } from './inbound.ts';
import { webhookPayload } from './payloads.ts';
import type { Attempt, Webhooks } from './webhooks.ts';

/** Something that has happened, and the webhook's first attempt; null when no webhook is configured. */
export interface Happened {
  event: MailEvent;
  attempt: Attempt | null;
}

interface Planned {
  entry: Entry;
  type: EventType;
  recipient: string;
}

/** Options of outcomes: `delayMs` is one unit of delay, 0 for at once. */
export interface OutcomeOptions {
  store: MessageStore;
  webhooks: Webhooks | null;
  delayMs: number;
  onError(error: unknown): void;
}

const bounceIds = createBounceIds();

/**
 * Makes events of accepted messages: delivered after one delay, opened, complained or unsubscribed after two,
 * clicked after three.
 */
export class Outcomes {
  private readonly options: OutcomeOptions;
  private readonly timers = new Set<NodeJS.Timeout>();

  constructor(options: OutcomeOptions) {
    this.options = options;
  }

  /** Plans what the addresses of these messages ask for, leaving out what has already happened. */
  schedule(entries: Iterable<Entry>): void {
    const plans: [Planned[], Planned[], Planned[]] = [[], [], []];
    for (const entry of entries) {
      for (const recipient of entry.recipients) {
        for (const { type, after } of treatmentOf(recipient).steps) {
          const happened = entry.events.some((event) => event.type === type && event.recipient === recipient);
          if (!happened) plans[after - 1]?.push({ entry, type, recipient });
        }
      }
    }
    plans.forEach((planned, i) => {
      if (planned.length > 0) this.later(planned, i + 1);
    });
  }

  /** Lets one thing happen now. Resolves with null when a click has no link to go to. */
  async happen(
    entry: Entry,
    type: EventType,
    details: { recipient?: string; link?: string } = {},
  ): Promise<Happened | null> {
    const link = type === 'click' ? (details.link ?? (await this.firstLink(entry))) : undefined;
    if (type === 'click' && !link) return null;
    const event = newEvent(entry, type, details.recipient ?? entry.recipients[0] ?? '', link);
    if (!this.options.webhooks) {
      this.record([[entry, event]]);
      return { event, attempt: null };
    }
    const attempt = await new Promise<Attempt>((resolve) => this.record([[entry, event]], resolve));
    return { event, attempt };
  }

  /** Drops everything planned. */
  clear(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }

  // One timer for a whole batch: a timer for each message would cost more than the rest of the work.
  private later(planned: Planned[], units: number): void {
    const { delayMs, onError } = this.options;
    const timer = setTimeout(
      () => {
        this.timers.delete(timer);
        void this.run(planned).catch(onError);
      },
      Math.min(units * delayMs, 2 ** 31 - 1),
    );
    this.timers.add(timer);
  }

  private async run(planned: Planned[]): Promise<void> {
    const made: [Entry, MailEvent][] = [];
    for (const { entry, type, recipient } of planned) {
      const link = type === 'click' ? await this.firstLink(entry) : undefined;
      if (type === 'click' && !link) continue;
      made.push([entry, newEvent(entry, type, recipient, link)]);
    }
    this.record(made);
  }

  private record(made: readonly [Entry, MailEvent][], attempted?: (attempt: Attempt) => void): void {
    const { store, webhooks } = this.options;
    const opened = made.map(([entry, event]) => event.type === 'open' && hasOpened(entry, event.recipient));
    store.addEvents(made);
    if (!webhooks) return;
    made.forEach(([entry, event], i) => {
      const webhook = { state: 'waiting' as const, attempts: 0, answer: '' };
      event.webhook = webhook;
      webhooks.post({
        key: entry.seq,
        body: () => webhookPayload(entry, event, !opened[i]),
        attempted(attempt) {
          const state = attempt.ok ? 'delivered' : attempt.final ? 'failed' : 'waiting';
          Object.assign(webhook, { state, attempts: attempt.number, answer: attempt.answer });
          store.changes.note();
          attempted?.(attempt);
        },
      });
    });
  }

  private async firstLink(entry: Entry): Promise<string | undefined> {
    const message = await this.options.store.read(entry);
    return message ? findLinks(message.HtmlBody ?? '', message.TextBody ?? '')[0] : undefined;
  }
}

function newEvent(entry: Entry, type: EventType, recipient: string, link: string | undefined): MailEvent {
  // Receivers tell opens and clicks apart by their time, so that no two of one message may share it.
  const at = Math.max(Date.now(), (entry.events.at(-1)?.at ?? 0) + 1);
  const bounced = type === 'hardBounce' || type === 'softBounce' || type === 'autoResponder' || type === 'complaint';
  return { type, recipient, at, ...(bounced ? { id: bounceIds() } : {}), ...(link ? { link } : {}) };
}

function hasOpened(entry: Entry, recipient: string): boolean {
  return entry.events.some((event) => event.type === 'open' && event.recipient === recipient);
}

function createBounceIds(): () => string {
  // Beyond 2^53 as Postmark's are, rising, and different after a restart.
  let last = 0n;
  return () => {
    const now = 4_300_000_000_000_000_000n + BigInt(Date.now()) * 1_000n;
    last = now > last ? now : last + 1n;
    return String(last);
  };
}
