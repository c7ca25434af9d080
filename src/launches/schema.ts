import * as v from 'valibot';
import { Drift } from '../campaigns/launch-body.ts';
import { field } from '../lib/validation/fields.ts';
import { CanaryOptions } from './canary/schema.ts';

const Fingerprint = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be the fingerprint of a dry run'));

/** `POST /campaigns/{id}/send`: anything a JavaScript date parser reads, or nothing for now. */
export const SendCampaign = v.object({
  canary: field(
    'Sends to a first slice of the audience and holds everyone else back. Absent keeps the canary of a scheduled campaign; null removes it.',
    v.nullish(CanaryOptions),
  ),
  fingerprint: field(
    'Fingerprint of a dry run. The send is refused if the campaign has changed since that review. Absent keeps the review of a scheduled campaign; null removes it.',
    v.nullish(Fingerprint),
  ),
  drift: field(
    'How far the audience may have changed since the dry run. `none`: exactly the reviewed contacts. `fewer`: nobody may have joined. A number from 0 to 1: the share of the audience that may have joined or left. Needs a `fingerprint`; `none` when absent.',
    v.optional(Drift),
  ),
  scheduledFor: field(
    'When to send: a date such as `2026-03-01T09:00:00Z`, or epoch milliseconds. Absent or null sends immediately.',
    v.optional(v.unknown()),
  ),
});
export type SendCampaign = v.InferOutput<typeof SendCampaign>;

/** `POST /campaigns/{id}/approve`. */
export const ApproveSend = v.object({
  fingerprint: field('Fingerprint of the review that is waiting for approval.', Fingerprint),
});
export type ApproveSend = v.InferOutput<typeof ApproveSend>;
