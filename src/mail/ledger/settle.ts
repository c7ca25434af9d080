import { newId } from '../../lib/ids.ts';
import { type Database, type Query, sql } from '../../store/sql.ts';
import { type Reason, storedReason } from './reasons.ts';

/** The claim that settled mail belongs to. */
export interface SettledClaim {
  id: string;
  /** The provider that it was handed to. */
  provider: string;
  /** The stream of all its mail, where verdicts name none. */
  stream?: string | null;
  /** Of a campaign: which send it is of, who holds it, and what becomes of it. A claim without this is one of the queue. */
  send?: { campaignId: string; sendSeq: number; holder: string; end: ClaimEnd };
}

/** The end of a campaign's claim: it is finished, or put back because some of its rows have no verdict yet. */
export type ClaimEnd =
  | { settled: true }
  | {
      settled: false;
      /** Milliseconds until another attempt may take it. */
      delayMs: number;
      /** Whether messages without a verdict may be with the provider. */
      unconfirmed: boolean;
      /** Whether this round counts as an attempt that was refused. */
      attempt: boolean;
    };

/** The final verdict on a mail. Texts are null where the rendered ones are not at hand; mail of campaigns keeps no body. */
export type Verdict =
  /** The provider has it; `at` is an ISO instant. */
  | {
      emailId: string;
      outcome: 'SENT';
      messageId: string;
      at: string;
      subject: string | null;
      body?: string | null;
      stream?: string | null;
    }
  /** It will never be sent; BOUNCED when the provider refuses the recipient for an earlier bounce or complaint. */
  | { emailId: string; outcome: 'FAILED' | 'BOUNCED'; reason: Reason; subject: string | null; body?: string | null };

/** A verdict on a mail of the queue, or the reason why it has none yet. */
export type Settlement =
  | Verdict
  /** It waits again. `attempt`: whether it was handed over and refused, with these words of the provider where it gave some. */
  | { emailId: string; outcome: 'RETRY'; delayMs: number; attempt: boolean; words: string | null }
  /** It may have been taken: the claim stays until it is looked up after so long. */
  | { emailId: string; outcome: 'UNCONFIRMED'; delayMs: number };

/** How many mails got their final status. */
export interface Settled {
  sent: number;
  /** Left out on purpose. */
  skipped: number;
  failed: number;
}

/** Longest refusal that is kept while a mail waits, in characters. */
const longestRefusal = 500;

/**
 * Settles mail of a claim: the only way by which our own verdict on handed-over mail is written (that of a provider's report is in
 * feedback/reports/notify.ts). All that follows stands in the function `settle_mail`
 * (migrations/functions/settle_mail.sql), which nothing else calls: the ledger, counts of mail and usage, the contact that the provider
 * refuses, the counters of the send, the claim or the rows of the queue, and the events. Safe to repeat: what is settled stays as it is.
 * A campaign's claim brings verdicts only; its rows without one stay as they are, and `end` says what becomes of the claim.
 */
export async function settleMail(
  db: Database,
  claim: SettledClaim,
  settlements: readonly Settlement[],
): Promise<Settled> {
  const { id, provider, stream = null, send } = claim;
  if (settlements.length === 0 && send === undefined) return { sent: 0, skipped: 0, failed: 0 };
  const verdicts: Verdict[] = [];
  const returned: Returned[] =
    send === undefined || send.end.settled ? [] : [{ ...send.end, emailId: null, words: null }];
  for (const one of settlements) {
    if (one.outcome === 'RETRY') returned.push({ ...one, unconfirmed: false });
    else if (one.outcome === 'UNCONFIRMED') returned.push({ ...one, unconfirmed: true, attempt: false, words: null });
    else verdicts.push(one);
  }
  const settled = await db.row<Settled>(sql`
    select sent, skipped, failed from settle_mail(
      claim => row(${id}, ${provider}, ${stream}, ${send?.campaignId ?? null}, ${send?.sendSeq ?? null}, ${send?.holder ?? null})::settled_claim,
      verdicts => ${settledMail(verdicts)},
      returned => ${returnedMails(returned)})`);
  return settled ?? { sent: 0, skipped: 0, failed: 0 };
}

/**
 * Verdicts as a `settled_mail`, arrays of their parts, which cost by their elements: what all share is left out, so that there are no outcomes
 * where all mail was sent, and one instant where it is the same for all.
 */
function settledMail(verdicts: readonly Verdict[]): Query {
  const each = <Value>(value: (one: Verdict) => Value) => verdicts.map(value);
  const some = <Value>(value: (one: Verdict) => Value | null) => {
    const values = each(value);
    return values.some((one) => one !== null) ? values : [];
  };
  const instants = new Set(verdicts.flatMap((one) => (one.outcome === 'SENT' ? [one.at] : [])));
  // IDs are made in order, so that the flip of a subscription stands before the bounce that caused it.
  const bounceId = ({ outcome }: Verdict) => (outcome === 'BOUNCED' ? newId() : null);
  return sql`row(
    ${plainArray(each(({ emailId }) => emailId))}::uuid[],
    ${some(({ outcome }) => (outcome === 'SENT' ? null : outcome))}::text[],
    ${plainArray(each((one) => (one.outcome === 'SENT' ? one.messageId : null)))}::text[],
    ${plainArray(instants.size <= 1 ? [...instants] : each((one) => (one.outcome === 'SENT' ? one.at : null)))}::timestamptz[],
    ${each(({ subject }) => storable(subject))}::text[],
    ${some(({ body = null }) => storable(body))}::text[],
    ${some((one) => (one.outcome === 'SENT' ? (one.stream ?? null) : null))}::text[],
    ${some((one) => (one.outcome === 'SENT' ? null : storedReason(one.reason)))}::jsonb[],
    ${some(bounceId)}::uuid[],
    ${some(bounceId)}::uuid[])::settled_mail`;
}

/** A mail of the queue, or (without ID) a whole claim of a campaign, that has no verdict yet. */
interface Returned {
  emailId: string | null;
  delayMs: number;
  unconfirmed: boolean;
  attempt: boolean;
  words: string | null;
}

function returnedMails(returned: readonly Returned[]): Query {
  return sql`array(
    select row(r.*)::returned_mail
    from unnest(${returned.map(({ emailId }) => emailId)}::uuid[], ${returned.map(({ delayMs }) => delayMs)}::float8[],
      ${returned.map(({ unconfirmed }) => unconfirmed)}::boolean[], ${returned.map(({ attempt }) => (attempt ? 1 : 0))}::integer[],
      ${returned.map(({ words }) => storable(words?.slice(0, longestRefusal) ?? null))}::text[]) r)`;
}

// IDs and instants need none of the quoting that makes arrays of text slow to write.
function plainArray(values: readonly (string | null)[]): string | readonly (string | null)[] {
  const isPlain = values.every((value) => value === null || (/^[\w:.+-]+$/.test(value) && value !== 'NULL'));
  return isPlain ? `{${values.map((value) => value ?? 'NULL').join(',')}}` : values;
}

/** A text without U+0000, the one character that Postgres cannot store; a filter of a template can make one. */
export function storable(text: string | null): string | null {
  return text?.includes('\0') ? text.replaceAll('\0', '') : text;
}
