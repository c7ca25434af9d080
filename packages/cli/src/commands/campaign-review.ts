import type { Fernpost, Reply } from '@fernpost/sdk';
import { plain, table } from '../output.ts';

/** What a dry run found. */
export type Review = Reply<'getCampaignDryRun'>['data'];

/** A dry run from its start to its end, of every message or a `sample` of that many. @throws when it fails */
export async function makeReview(client: Fernpost, id: string, sample: number | 'all' = 'all'): Promise<Review> {
  const review = await client.campaigns.review(id, { sample }, { everyMs: 500 });
  if (review.state === 'FAILED')
    throw new Error(`The review ended: ${review.failedReason ?? 'no reason was recorded'}.`);
  return review;
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
