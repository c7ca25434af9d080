import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** One POST to the webhook URL. */
interface Delivery {
  /** Deliveries with the same key are first attempted in the order in which they were queued. */
  key: number;
  body(): string;
  /** Called after every attempt; `final` when no other follows. */
  attempted?(attempt: Attempt): void;
}

/** How an attempt went; `answer` is the status or the connection's error, in words. */
export interface Attempt {
  number: number;
  ok: boolean;
  final: boolean;
  answer: string;
}

/** Where webhooks go. */
export interface WebhookOptions {
  url: string;
  /** HTTP Basic credentials; none are sent when the user is empty. */
  user: string;
  password: string;
  /** The waits before the second and later attempts, in milliseconds. */
  retryMs?: readonly number[];
}

/** Counts since the start of the process. */
interface WebhookTotals {
  delivered: number;
  failed: number;
  waiting: number;
  dropped: number;
}

const lanes = 16;
const timeoutMs = 10_000;
// Beyond this a receiver that never answers would fill the memory.
const maxWaiting = 250_000;

/**
 * Posts webhooks in the background as Postmark does: one record for each POST, any 2xx is success, 403 ends the attempts,
 * redirects are not followed; with the waits between attempts shortened to 1, 2 and 5 seconds (docs/contract/platform.md#10-6).
 */
export class Webhooks {
  private readonly url: string;
  private readonly retryMs: readonly number[];
  private readonly headers: Record<string, string>;
  private readonly agent = new Agent({ connections: lanes, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  private readonly closing = new AbortController();
  private readonly queues = Array.from({ length: lanes }, () => ({ jobs: [] as Delivery[], head: 0, busy: false }));
  private readonly counts: WebhookTotals = { delivered: 0, failed: 0, waiting: 0, dropped: 0 };

  constructor({ url, user, password, retryMs = [1_000, 2_000, 5_000] }: WebhookOptions) {
    this.url = url;
    this.retryMs = retryMs;
    this.headers = { 'content-type': 'application/json', 'user-agent': 'Fernpost-Sandbox' };
    if (user !== '') this.headers.authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  }

  post(delivery: Delivery): void {
    const queue = this.queues[delivery.key % lanes];
    if (!queue || this.closing.signal.aborted) return;
    if (this.counts.waiting >= maxWaiting) {
      this.counts.dropped += 1;
      delivery.attempted?.({ number: 0, ok: false, final: true, answer: 'not sent: too many webhooks are waiting' });
      return;
    }
    this.counts.waiting += 1;
    queue.jobs.push(delivery);
    if (!queue.busy) void this.drain(queue);
  }

  totals(): WebhookTotals {
    return { ...this.counts };
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.agent.destroy();
  }

  private async drain(queue: (typeof this.queues)[number]): Promise<void> {
    queue.busy = true;
    for (;;) {
      const delivery = queue.jobs[queue.head];
      if (!delivery || this.closing.signal.aborted) break;
      queue.head += 1;
      await this.attempt(delivery, 1);
      if (queue.head >= 1024) {
        queue.jobs.splice(0, queue.head);
        queue.head = 0;
      }
    }
    queue.jobs = [];
    queue.head = 0;
    queue.busy = false;
  }

  private async attempt(delivery: Delivery, number: number): Promise<void> {
    const { ok, refused, answer } = await this.call(delivery.body());
    if (this.closing.signal.aborted) return;
    const wait = this.retryMs[number - 1];
    const final = refused || ok || wait === undefined;
    if (final) {
      this.counts.waiting -= 1;
      this.counts[ok ? 'delivered' : 'failed'] += 1;
    }
    delivery.attempted?.({ number, ok, final, answer });
    if (!final) void this.retry(delivery, number + 1, wait);
  }

  private async retry(delivery: Delivery, number: number, wait: number): Promise<void> {
    const { signal } = this.closing;
    await sleep(wait, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await this.attempt(delivery, number);
  }

  private async call(body: string): Promise<{ ok: boolean; refused: boolean; answer: string }> {
    const { url, headers, agent: dispatcher, closing } = this;
    let status = 0;
    let answer: string;
    try {
      const reply = await request(url, { method: 'POST', headers, body, dispatcher, signal: closing.signal });
      status = reply.statusCode;
      answer = `HTTP ${status}`;
      await reply.body.dump();
    } catch (error) {
      answer = reasonOf(error);
    }
    return { ok: status >= 200 && status < 300, refused: status === 403, answer };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
