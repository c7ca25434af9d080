import { setTimeout as sleep } from 'node:timers/promises';
import type { Fernpost, Reply } from '@fernpost/sdk';
import { plain, table } from '../output.ts';

/** What a dry run found. */
export type Review = Reply<'getCampaignDryRun'>['data'];

/**
 * Decides about every contact and renders every message, or a `sample` of that many, sends nothing, and answers the report when
 * it is done.
 */
export async function makeReview(client: Fernpost, id: string, sample: number | 'all' = 'all'): Promise<Review> {
  const { data: started } = await client.call('startCampaignDryRun', { path: { id }, body: { sample } });
  for (;;) {
    const review = await readReview(client, id, String(started.n));
    if (review.state === 'DONE') return review;
    if (review.state === 'FAILED')
      throw new Error(`The review ended: ${review.failedReason ?? 'no reason was recorded'}.`);
    await sleep(500);
  }
}

/** The report of a dry run, or of the `latest`. */
export async function readReview(client: Fernpost, id: string, n: string): Promise<Review> {
  return (await client.call('getCampaignDryRun', { path: { id, n } })).data;
}

/** The report as people read it: who gets it, who does not and why, and what looks wrong. */
export function describeReview(review: Review): string {
  const { wouldSend, audience, sample, rendered, leftOut, missing, problems, samples, changed, fingerprint } = review;
  const rows = [
    ...leftOut.map(({ reason, count }) => ['-', count, reason]),
    ...missing.map(({ variable, contacts }) => ['!', contacts, `no value for {{${variable}}}`]),
    ...problems.map(({ kind, count, example }) => ['!', count, example ? `${kind}, such as ${example.email}` : kind]),
  ];
  const first = samples.slice(0, 3).map(({ email, subject }) => ['+', email, subject]);
  return [
    `Would send to ${wouldSend} of ${audience} contacts.`,
    ...(sample === 'all'
      ? []
      : [`Rendered a sample of ${rendered} messages; what looks wrong is counted among these.`]),
    ...(rows.length === 0 ? [] : ['', table(rows)]),
    ...(first.length === 0 ? [] : ['', table(first)]),
    ...(changed.length === 0 ? [] : ['', `Changed since: ${changed.map(plain).join(', ')}. Review it again.`]),
    ...(fingerprint === null ? [] : ['', `Fingerprint: ${fingerprint}`]),
  ].join('\n');
}
