import { hash } from 'node:crypto';
import { Filled, Literal } from '@fernpost/renderer';
import { audienceMark } from '../../campaigns/audience/audience.ts';
import { lockCampaign } from '../../campaigns/state.ts';
import type { MessageText, OutgoingMessage } from '../../domains/providers/mailer.ts';
import { storedDefinition } from '../../segments/definition.ts';
import { type Database, sql } from '../../store/sql.ts';

/** Everything but the contacts themselves that decides what a send hands over, each by a hash. */
export type ReviewFacts = Readonly<Record<string, string>>;

/** Content, audience rule and settings of a campaign as they are now; null when it is gone. */
export async function factsOf(db: Database, projectId: string, campaignId: string): Promise<ReviewFacts | null> {
  const row = await db.row<Record<string, unknown>>(sql`
    select c.subject, c.body, c."from", c.from_name as "fromName", c.reply_to as "replyTo", c.type,
      c.audience_type as "audienceType", c.audience_condition as "audienceCondition", c.segment_id as "segmentId",
      case when c.audience_type = 'SEGMENT' then (select jsonb_build_object('type', s.type, 'condition', s.condition)
        from segments s where s.project_id = c.project_id and s.id = c.segment_id) end as segment,
      p.name as "project.name", p.tracking as "project.tracking", p.language as "project.language",
      p.escape_contact_data as "project.escapeContactData"
    from campaigns c join projects p on p.id = c.project_id
    where c.project_id = ${projectId} and c.id = ${campaignId}`);
  return row && hashed(row);
}

/**
 * Everything that the send of a campaign stands for: content, sender and settings, the definitions that choose its audience, and who is
 * in it by now. What can change it is locked until the transaction ends.
 * @throws 404; 400 for a stored condition that can no longer be read
 */
export async function launchFacts(
  tx: Database,
  projectId: string,
  campaignId: string,
  now: Date,
): Promise<ReviewFacts> {
  const campaign = await lockCampaign(tx, projectId, campaignId);
  const { audienceCondition, segmentId } = campaign;
  const held = (ids: readonly string[]) =>
    tx.rows<{ id: string; type: string; condition: unknown }>(sql`
      select id, type, condition from segments where project_id = ${projectId} and id = any(${ids}::uuid[]) order by id for share`);
  const own = segmentId ? await held([segmentId]) : [];
  const trees = [audienceCondition, ...own.map(({ condition }) => condition)].filter((tree) => tree != null);
  const named: string[] = [];
  for (const tree of trees) named.push(...(await storedDefinition(tx, projectId, tree)).segments.keys());
  const segments = [...own, ...(await held([...new Set(named)].filter((id) => id !== segmentId)))];
  const row = await tx.row<Record<string, unknown>>(sql`
    select name, document, status, revision, content_version as version, scheduled_for::text as "scheduledFor", resend_of as "resendOf",
      send_seq as "sendSeq", total_recipients - sent_count - skipped_count - failed_count as left
    from campaigns where id = ${campaignId}`);
  const facts = { ...row, segments, correction: campaign.correction, audience: await audienceMark(tx, campaign, now) };
  return { ...(await factsOf(tx, projectId, campaignId)), ...hashed(facts) };
}

/** A value for each fact, by which two of them are told apart. */
export function hashed(facts: Readonly<Record<string, unknown>>): ReviewFacts {
  return Object.fromEntries(
    Object.entries(facts).map(([field, value]) => [field, hash('sha256', JSON.stringify(value ?? null), 'base64url')]),
  );
}

/** The fields that differ between a review and now, in the order of the campaign's fields. */
export function changedFields(reviewed: ReviewFacts, now: ReviewFacts): string[] {
  return Object.keys({ ...now, ...reviewed }).filter((field) => reviewed[field] !== now[field]);
}

/** The problems that a dry run finds in rendered messages. */
export const problemKinds = ['clipped', 'empty link', 'http image', 'no text', 'render'] as const;
/** One of `problemKinds`. */
export type ProblemKind = (typeof problemKinds)[number];

/** The facts about a rendered message that are kept. */
export interface MessageFinding {
  /** SHA-256, in hex, of subject and HTML. */
  hash: string;
  /** Of the HTML, in UTF-8. */
  bytes: number;
  problems: Set<ProblemKind>;
}

/** Gmail shows this much of a message and hides the rest, the unsubscribe link with it. */
const clippedFrom = 102 * 1024;

/** Hashes and checks a message. Fixed parts, which all messages share, are read once. */
export function findingOf({ subject, html, text }: OutgoingMessage): MessageFinding {
  const problems = new Set<ProblemKind>();
  const parts: string[] = [subject];
  let bytes = 0;
  let before: Scan = nothing;
  for (const part of partsOf(html)) {
    const scan = part instanceof Literal ? scanLiteral(part, before) : scanValue(part, before);
    bytes += scan.bytes;
    parts.push(scan.digest);
    if (scan.emptyLink) problems.add('empty link');
    if (scan.httpImage) problems.add('http image');
    before = scan;
  }
  if (bytes > clippedFrom) problems.add('clipped');
  if (text === null || String(text).trim() === '') problems.add('no text');
  return { hash: hash('sha256', JSON.stringify(parts)), bytes, problems };
}

function partsOf(text: MessageText): readonly (Literal | string)[] {
  return text instanceof Filled ? text.parts : [text];
}

type Tag = '' | 'a' | 'img';

/** The state of the scan after a part of the HTML. */
interface Scan {
  bytes: number;
  digest: string;
  emptyLink: boolean;
  httpImage: boolean;
  /** The tag that the part ends in, where its address stands behind it. */
  tag: Tag;
  /** Whether the part ends where the address of that tag begins. */
  awaits: boolean;
}

const nothing: Scan = { bytes: 0, digest: '', emptyLink: false, httpImage: false, tag: '', awaits: false };
const scanned = new WeakMap<Literal, Map<string, Scan>>();

function scanLiteral(literal: Literal, before: Scan): Scan {
  const key = `${before.tag}${before.awaits}`;
  const known = scanned.get(literal)?.get(key);
  if (known !== undefined) return known;
  const { text } = literal;
  const scan: Scan = {
    ...scanText(text, before.tag),
    bytes: Buffer.byteLength(text),
    digest: hash('sha256', text, 'base64url'),
  };
  if (before.awaits && before.tag === 'a' && /^["'\s>]/.test(text)) scan.emptyLink = true;
  const states = scanned.get(literal) ?? new Map<string, Scan>();
  scanned.set(literal, states.set(key, scan));
  return scan;
}

function scanValue(value: string, before: Scan): Scan {
  const scan = { ...nothing, bytes: Buffer.byteLength(value), digest: `=${value}` };
  if (value.includes('<')) return { ...scan, ...scanText(value, before.tag) };
  const { tag, awaits } = before;
  if (!awaits) return { ...scan, tag };
  const address = value.trim();
  if (address === '') return { ...scan, tag, awaits: true };
  return { ...scan, tag, emptyLink: tag === 'a' && address === '#', httpImage: tag === 'img' && isHttp.test(address) };
}

const isHttp = /^http:\/\//i;
const emptyHref = /(?:^|\s)href\s*=\s*(?:(["'])\s*#?\s*\1|(?=\s|$))/i;
const httpSrc = /(?:^|\s)src\s*=\s*["']?\s*http:\/\//i;
const awaitsHref = /(?:^|\s)href\s*=\s*["']?$/i;
const awaitsSrc = /(?:^|\s)src\s*=\s*["']?$/i;

// Reads the tags of links and images in a stretch of HTML; `inside` is the tag that it begins in.
function scanText(text: string, inside: Tag): Omit<Scan, 'bytes' | 'digest'> {
  const found = { emptyLink: false, httpImage: false, tag: '' as Tag, awaits: false };
  let tag = inside;
  let at = 0;
  while (at < text.length) {
    const end = endOfRun(text, at);
    const attributes = text.slice(at, end);
    const isOpen = end === text.length;
    const awaits = isOpen && (tag === 'a' ? awaitsHref : awaitsSrc).test(attributes);
    if (tag === 'a' && !awaits && emptyHref.test(attributes)) found.emptyLink = true;
    if (tag === 'img' && httpSrc.test(attributes)) found.httpImage = true;
    if (isOpen) return { ...found, tag, awaits: tag !== '' && awaits };
    tag = '';
    at = end + 1;
    if (text[end] !== '<') continue;
    const [name] = /^(?:a|img)(?=\s)/i.exec(text.slice(at, at + 4)) ?? [''];
    tag = name.toLowerCase() as Tag;
    at += name.length;
  }
  return { ...found, tag };
}

function endOfRun(text: string, from: number): number {
  const bracket = /[<>]/g;
  bracket.lastIndex = from;
  return bracket.exec(text)?.index ?? text.length;
}
