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

/** How an attempt went; `answer` is the status or the connection's error, for people. */
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

/** Posts webhooks in the background. */
export interface Webhooks {
  post(delivery: Delivery): void;
  totals(): WebhookTotals;
  close(): Promise<void>;
}

const lanes = 16;
const timeoutMs = 10_000;
// Beyond this a receiver that never answers would fill the memory.
const maxWaiting = 250_000;

/**
 * Posts as Postmark does, one record for each POST, any 2xx is success, 403 ends the attempts, redirects are not
 * followed; with the waits between attempts shortened to 1, 2 and 5 seconds (contract page 3, 10.6).
 */
export function createWebhooks(options: WebhookOptions): Webhooks {
  const retryMs = options.retryMs ?? [1_000, 2_000, 5_000];
  const agent = new Agent({ connections: lanes, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  const closing = new AbortController();
  const queues = Array.from({ length: lanes }, () => ({ jobs: [] as Delivery[], head: 0, busy: false }));
  const totals: WebhookTotals = { delivered: 0, failed: 0, waiting: 0, dropped: 0 };
  const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': 'Posthorn-Sandbox' };
  if (options.user !== '') {
    headers.authorization = `Basic ${Buffer.from(`${options.user}:${options.password}`).toString('base64')}`;
  }

  async function attempt(delivery: Delivery, number: number): Promise<void> {
    let ok = false;
    let final = false;
    let answer: string;
    try {
      const reply = await request(options.url, {
        method: 'POST',
        headers,
        body: delivery.body(),
        dispatcher: agent,
        signal: closing.signal,
      });
      answer = `HTTP ${reply.statusCode}`;
      ok = reply.statusCode >= 200 && reply.statusCode < 300;
      final = reply.statusCode === 403;
      await reply.body.dump();
    } catch (error) {
      answer = reasonOf(error);
    }
    if (closing.signal.aborted) return;
    const wait = retryMs[number - 1];
    final ||= ok || wait === undefined;
    if (final) {
      totals.waiting -= 1;
      totals[ok ? 'delivered' : 'failed'] += 1;
    }
    delivery.attempted?.({ number, ok, final, answer });
    if (!final && wait !== undefined) void retry(delivery, number + 1, wait);
  }

  async function retry(delivery: Delivery, number: number, wait: number): Promise<void> {
    await sleep(wait, undefined, { signal: closing.signal }).catch(() => undefined);
    if (!closing.signal.aborted) await attempt(delivery, number);
  }

  async function drain(queue: (typeof queues)[number]): Promise<void> {
    queue.busy = true;
    for (;;) {
      const delivery = queue.jobs[queue.head];
      if (!delivery || closing.signal.aborted) break;
      queue.head += 1;
      await attempt(delivery, 1);
      if (queue.head >= 1024) {
        queue.jobs.splice(0, queue.head);
        queue.head = 0;
      }
    }
    queue.jobs = [];
    queue.head = 0;
    queue.busy = false;
  }

  return {
    post(delivery) {
      const queue = queues[delivery.key % lanes];
      if (!queue || closing.signal.aborted) return;
      if (totals.waiting >= maxWaiting) {
        totals.dropped += 1;
        delivery.attempted?.({ number: 0, ok: false, final: true, answer: 'not sent: too many webhooks are waiting' });
        return;
      }
      totals.waiting += 1;
      queue.jobs.push(delivery);
      if (!queue.busy) void drain(queue);
    },
    totals: () => ({ ...totals }),
    async close() {
      closing.abort();
      await agent.destroy();
    },
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
