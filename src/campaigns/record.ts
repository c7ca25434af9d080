import * as v from 'valibot';
import type { App } from '../http/context.ts';
import { CampaignStatus } from '../lib/enums.ts';
import { field } from '../lib/validation/fields.ts';
import { type Hold, holdBody, holdFor, holdSentence } from '../mail/engine/breaker.ts';
import { segmentsByIds } from '../segments/service.ts';
import type { Database } from '../store/sql.ts';
import { iconsUrlOf } from '../templates/brand/service.ts';
import { type HeldRecipients, heldRecipientsOf, quietSentence } from './delivery/held.ts';
import type { Campaign } from './entity.ts';
import type { LaunchGate, LaunchShown } from './launch.ts';
import { CampaignBody, type CampaignWithSegment } from './schema.ts';

/**
 * A malformed id of a campaign is a 422 (docs/contract/campaigns-and-workflows.md#0), not the 404 that other resources answer.
 */
export const ids = { id: '422' } as const;

/** Returns the parts of the service that campaigns work with. */
export const depsOf = ({ app, db }: { app: App; db: Database }) => ({
  db,
  outbox: app.outbox,
  senderDomains: app.directory.senderDomains,
  iconsUrl: iconsUrlOf(app.config),
  clock: app.clock,
  provider: app.mailer.name,
  launchGate: app.launchGate,
  billing: app.config,
  tell: app.tellMembers,
});

/** The envelope of the answers about one campaign. */
export const ok = <Data>(data: Data) => ({ success: true, data });

/** The envelope of the answers about what was done to a campaign. */
export const answer = <Facts extends { campaign: unknown; message: string }>({ campaign, ...facts }: Facts) => ({
  ...ok(campaign),
  ...facts,
});

/** The schema of answers that only say what was done. */
export const message = v.object({
  success: field('Always `true`. A failed request returns an `Error` instead.', v.literal(true)),
  message: field('What was done, as a sentence for people.', v.string()),
});

/** The schema of the envelope, with what `data` is. */
export const wrapped = <Schema extends v.GenericSchema>(text: string, data: Schema) =>
  v.object({
    success: field('Always `true`. A failed request returns an `Error` instead.', v.literal(true)),
    data: field(text, data),
  });
/** The schema of an envelope that says what was done. */
export const withMessage = <Schema extends v.GenericSchema>(text: string, data: Schema) =>
  v.object({ ...wrapped(text, data).entries, message: field('What was done, as a sentence for people.', v.string()) });

/** A campaign as answers show it. */
export function campaignBody(campaign: Campaign): CampaignBody {
  const shown = (value: unknown) => (value instanceof Date ? value.toISOString() : (value ?? null));
  const keys = Object.keys(CampaignBody.entries) as (keyof CampaignBody)[];
  return Object.fromEntries(keys.map((key) => [key, shown(campaign[key])])) as CampaignBody;
}

/** How campaigns are read to be shown. */
export interface ShowingDeps {
  db: Database;
  /** The mailer's name, for what holds it. */
  provider: string;
  launchGate: LaunchGate;
}

/** Returns `campaignBody` with the segments of the campaigns, their launches, and why those that are SENDING stand still. */
export async function withSegments(
  { db, provider, launchGate }: ShowingDeps,
  campaigns: readonly Campaign[],
): Promise<CampaignWithSegment[]> {
  const ids = campaigns.flatMap(({ segmentId }) => segmentId ?? []);
  const projectId = campaigns[0]?.projectId ?? '';
  const moving = campaigns.filter(mayBeHeld).map(({ id }) => id);
  const [segments, hold, quiet, launches] = await Promise.all([
    segmentsByIds(db, projectId, ids),
    moving.length > 0 ? holdFor(db, provider) : null,
    heldRecipientsOf(db, moving),
    launchGate.shown(db, campaigns),
  ]);
  return campaigns.map((campaign) => {
    const launch = launches.get(campaign.id);
    const held = quiet.get(campaign.id) ?? null;
    return {
      ...campaignBody(campaign),
      segment: segments.get(campaign.segmentId ?? '') ?? null,
      approval: launch?.approval ?? null,
      held: heldBy(hold, held, launch, campaign),
      hold: hold !== null && mayBeHeld(campaign) ? holdBody(provider, hold) : null,
      quietHours: held && { contacts: held.contacts, until: held.until },
      canary: launch?.canary ?? null,
    };
  });
}

/** Returns why a campaign that is SENDING stands still, as a sentence; null while it moves. */
export async function heldSentence(
  { db, provider, launchGate }: ShowingDeps,
  campaign: Campaign,
): Promise<string | null> {
  if (campaign.status !== CampaignStatus.SENDING) return null;
  const { id } = campaign;
  const hold = mayBeHeld(campaign) ? await holdFor(db, provider) : null;
  const quiet = mayBeHeld(campaign) ? await heldRecipientsOf(db, [id]) : null;
  return heldBy(hold, quiet?.get(id) ?? null, (await launchGate.shown(db, [campaign])).get(id), campaign);
}

/** Recipients of a campaign that is under way without a verdict yet, by its counters. */
export function pendingCount({ totalRecipients, sentCount, skippedCount, failedCount }: Campaign): number {
  return Math.max(0, totalRecipients - sentCount - skippedCount - failedCount);
}

function mayBeHeld({ status, pausedAt }: Campaign): boolean {
  return status === CampaignStatus.SENDING && !pausedAt;
}

// What the provider refuses comes first: a canary that waits for it can do nothing else.
// A campaign moves while anybody of those whose turn it is may be written to.
function heldBy(
  hold: Hold | null,
  quiet: HeldRecipients | null,
  launch: LaunchShown | undefined,
  campaign: Campaign,
): string | null {
  if (campaign.status !== CampaignStatus.SENDING) return null;
  if (hold !== null && mayBeHeld(campaign)) return holdSentence(hold, pendingCount(campaign));
  const canary = launch?.canary;
  const turn = canary?.state === 'SENDING' ? canary.counts.pending : pendingCount(campaign);
  if (quiet !== null && quiet.contacts >= turn) return quietSentence(quiet);
  return mayBeHeld(campaign) || launch?.canary?.state === 'STOPPED' ? (launch?.held ?? null) : null;
}
