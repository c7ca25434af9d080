import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from './client.ts';

/** What a caller of `POST /v1/send` knows of the letters it sent while everything around it was killed. */
export interface Letters {
  /** Addresses whose request was answered: these must arrive, once. */
  accepted: string[];
  /** Addresses whose request was cut off, so that its `Idempotency-Key` is used but the answer never arrived: at most once. */
  uncertain: string[];
}

const pauseMs = 250;

/**
 * Sends one transactional mail after the other until it is stopped, as a shop does while a campaign runs: each with an
 * `Idempotency-Key`, and again with the same key for as long as no answer comes.
 */
export async function sendLetters(api: Call, sender: string, stop: AbortSignal): Promise<Letters> {
  const letters: Letters = { accepted: [], uncertain: [] };
  for (let number = 0; !stop.aborted; number += 1) {
    const address = `letter-${number}@shop.example`;
    (await sendOne(api, sender, address, stop)) ? letters.accepted.push(address) : letters.uncertain.push(address);
    await sleep(pauseMs, undefined, { signal: stop }).catch(() => undefined);
  }
  return letters;
}

async function sendOne(api: Call, from: string, to: string, stop: AbortSignal): Promise<boolean> {
  const key = randomUUID();
  for (;;) {
    const answer = await api(
      'POST',
      '/v1/send',
      { to, from, subject: 'Your receipt', body: '<p>Thank you for your order.</p>' },
      { 'Idempotency-Key': key },
    ).catch(() => null);
    if (answer?.status === 200) return true;
    // The first attempt got through; the key keeps how it ended, or nothing when it was cut off.
    if (answer?.status === 409) return answer.body.error.details.originalStatusCode === 200;
    if (answer !== null && answer.status < 500)
      throw new Error(`/v1/send: ${answer.status} ${JSON.stringify(answer.body)}`);
    if (stop.aborted) return false;
    await sleep(pauseMs);
  }
}
