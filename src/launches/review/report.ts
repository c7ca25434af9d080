import { hash } from 'node:crypto';
import { type BillingSettings, quotaFor } from '../../billing/service.ts';
import { usageCategory } from '../../billing/usage-queries.ts';
import { sourceTypeOf } from '../../campaigns/audience/audience.ts';
import { loadContent, type PrepareCampaign } from '../../campaigns/delivery/content.ts';
import type { ClaimedRecipient } from '../../campaigns/delivery/ledger.ts';
import { load } from '../../campaigns/service.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { Project } from '../../projects/queries.ts';
import type { Database } from '../../store/sql.ts';
import { changedFields, factsOf, type ProblemKind, problemKinds } from './findings.ts';
import { DryRun, readContacts } from './queries.ts';
import type { ReviewedRecipient } from './round.ts';
import type { DryRunReport } from './schema.ts';

/** How often something was found, and a few contacts to look at. */
interface Found {
  count: number;
  examples: string[];
}

/** The findings of a dry run so far. Their size does not grow with the audience. */
export interface Findings {
  leftOut: Record<string, number>;
  missing: Record<string, Found>;
  problems: Partial<Record<ProblemKind, Found>>;
  /** Contacts whose message is shown. */
  samples?: string[];
  byProvider?: { domain: string; count: number }[];
}

const mostNames = 50;
const mostExamples = 3;
const others = 'Other reasons';

/** Adds recipients to what was found. */
export function tally(before: Findings, reviewed: readonly ReviewedRecipient[]): Findings {
  const findings = structuredClone({
    leftOut: before.leftOut ?? {},
    missing: before.missing ?? {},
    problems: before.problems ?? {},
  });
  for (const { contactId, leftOut, missing, problems } of reviewed) {
    if (leftOut !== null) {
      const reason = isRoomFor(findings.leftOut, leftOut) ? leftOut : others;
      findings.leftOut[reason] = (findings.leftOut[reason] ?? 0) + 1;
    }
    for (const variable of missing)
      if (isRoomFor(findings.missing, variable)) add(findings.missing, variable, contactId);
    for (const kind of problemKinds) if (problems.has(kind)) add(findings.problems, kind, contactId);
  }
  return findings;
}

// A template or a provider's words may name very many.
function isRoomFor(known: object, name: string): boolean {
  return Object.hasOwn(known, name) || Object.keys(known).length < mostNames;
}

function add<Name extends string>(into: Partial<Record<Name, Found>>, name: Name, contactId: string): void {
  const found = (Object.hasOwn(into, name) ? into[name] : undefined) ?? { count: 0, examples: [] };
  found.count += 1;
  if (found.examples.length < mostExamples) found.examples.push(contactId);
  into[name] = found;
}

/** Goes on with the hash of an audience: contacts in the order of their IDs, each with what they would get. */
export function chained(before: Buffer, reviewed: readonly ReviewedRecipient[]): Buffer {
  let chain = before.toString('hex');
  for (const { contactId, finding, leftOut } of reviewed)
    chain = hash('sha256', JSON.stringify([chain, contactId, finding?.hash ?? null, leftOut]));
  return Buffer.from(chain, 'hex');
}

/** Contacts whose messages are worth a look first: those of whom something was found. */
export function exampleContacts({ missing, problems }: Findings): string[] {
  const found = [...Object.values(problems ?? {}), ...Object.values(missing ?? {})];
  return [...new Set(found.flatMap(({ examples }) => examples.slice(0, 1)))];
}

/** The parts that a report is made from. */
export interface DryRunReportDeps {
  db: Database;
  billing: BillingSettings;
  /** Renders the samples: they are not kept, for they would hold what the service knows of contacts. */
  prepare: PrepareCampaign;
  /** Setting SEND_RATE_PER_PROJECT. */
  rate: number;
  /** Whether the caller may see messages as contacts get them. */
  showsSamples: boolean;
}

function neverReviewed(campaignId: string): AppError {
  return new AppError(404, 'RESOURCE_NOT_FOUND', 'This campaign has had no dry run in the last seven days', {
    details: { resource: 'dry run', campaignId },
    suggestion: 'Start one with POST /campaigns/{id}/dry-run.',
  });
}

/** A dry run by its number, or the `latest`, with what it found. @throws 404 */
export async function getDryRun(
  deps: DryRunReportDeps,
  projectId: string,
  id: string,
  number: string,
): Promise<DryRunReport> {
  const { db } = deps;
  const campaign = await load(db, projectId, id);
  const n = number === 'latest' ? null : /^\d{1,9}$/.test(number) ? Number(number) : -1;
  const which = { projectId, campaignId: id, ...(n !== null && { n }) };
  const run = await db.em.findOne(DryRun, which, { orderBy: { n: 'desc' }, refresh: true });
  if (run === null) throw number === 'latest' ? neverReviewed(id) : notFound('dry run', number);
  const { findings, state } = run;
  const changed = changedFields(run.facts, (await factsOf(db, projectId, id)) ?? {});
  const shownTo = deps.showsSamples && state === 'DONE' && changed.length === 0 ? (findings.samples ?? []) : [];
  const known = await contactsById(db, projectId, findings, shownTo);
  const exampleOf = (contactId: string) => {
    const contact = known.get(contactId);
    return contact === undefined ? [] : [{ contactId, email: contact.email }];
  };
  const content = shownTo.length === 0 ? null : await loadContent(db, id, campaign.sendSeq);
  const compose = content === null ? null : deps.prepare(content);
  const project = await db.em.findOne(Project, { id: projectId }, { fields: ['sendRate'] });
  const category = usageCategory(sourceTypeOf(campaign.type), campaign.type);
  const { limit, usage } = await quotaFor(db, deps.billing, { projectId, category, count: run.wouldSend });
  return {
    n: run.n,
    state,
    failedReason: run.failedReason ?? null,
    progress: state === 'DONE' ? 100 : Math.min(99, Math.floor((100 * run.audience) / Math.max(1, run.expected))),
    sample: run.sample ?? 'all',
    rendered: run.rendered,
    audience: run.audience,
    wouldSend: run.wouldSend,
    leftOut: counted(findings.leftOut, (reason, count) => ({ reason, count })),
    missing: Object.entries(findings.missing ?? {})
      .map(([variable, { count, examples }]) => ({ variable, contacts: count, examples: examples.flatMap(exampleOf) }))
      .sort((a, b) => b.contacts - a.contacts),
    problems: Object.entries(findings.problems ?? {}).map(([kind, { count, examples }]) => ({
      kind: kind as DryRunReport['problems'][number]['kind'],
      count,
      example: examples.flatMap(exampleOf)[0] ?? null,
    })),
    byProvider: findings.byProvider ?? [],
    takes: secondsFor(run, [deps.rate, project?.sendRate ?? 0]),
    room: { limit, left: limit === null ? null : Math.max(0, limit - (usage ?? 0)) },
    samples: compose === null ? [] : shownTo.flatMap((contactId) => sampleOf(compose, known.get(contactId))),
    fingerprint: run.fingerprint ?? null,
    changed,
    createdAt: run.createdAt.toISOString(),
    finishedAt: run.finishedAt?.toISOString() ?? null,
    expiresAt: run.expiresAt.toISOString(),
  };
}

// Those whose message cannot be rendered have an example among the problems.
function sampleOf(
  compose: ReturnType<PrepareCampaign>,
  contact: ClaimedRecipient | undefined,
): DryRunReport['samples'] {
  if (contact === undefined) return [];
  try {
    const { subject, html, text } = compose(contact);
    const { contactId, email } = contact;
    return [{ contactId, email, subject, html: String(html), text: text === null ? null : String(text) }];
  } catch {
    return [];
  }
}

async function contactsById(
  db: Database,
  projectId: string,
  { missing = {}, problems = {} }: Partial<Findings>,
  samples: readonly string[],
) {
  const examples = [...Object.values(missing), ...Object.values(problems)].flatMap((found) => found.examples);
  const contacts = await readContacts(db, projectId, [...new Set([...examples, ...samples])]);
  return new Map(contacts.map((contact) => [contact.contactId, contact]));
}

function counted<Item extends { count: number }>(
  counts: Readonly<Record<string, number>> = {},
  item: (name: string, count: number) => Item,
): Item[] {
  return Object.entries(counts)
    .map(([name, count]) => item(name, count))
    .sort((a, b) => b.count - a.count);
}

/** Seconds that the send takes at least: by the project's rate, or as long as rendering took, or would take by a sample. */
function secondsFor({ wouldSend, sample, rendered, renderMs }: DryRun, rates: readonly number[]): number {
  const limits = rates.filter((rate) => rate > 0);
  if (limits.length > 0) return Math.ceil(wouldSend / Math.min(...limits));
  const share = sample == null ? 1 : wouldSend / Math.max(1, rendered);
  return Math.ceil((renderMs / 1000) * share);
}
