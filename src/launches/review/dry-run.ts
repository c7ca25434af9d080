import { hash } from 'node:crypto';
import type { LimitFunction } from 'p-limit';
import { needsSubscription } from '../../campaigns/audience/audience.ts';
import { readAudience } from '../../campaigns/audience/cursor.ts';
import { claimSize, loadContent, type PrepareCampaign } from '../../campaigns/delivery/content.ts';
import type { ClaimedRecipient } from '../../campaigns/delivery/ledger.ts';
import { editableStatuses } from '../../lib/enums.ts';
import { AppError } from '../../lib/errors.ts';
import { leastId } from '../../lib/ids.ts';
import { pause } from '../../lib/time.ts';
import { handOver } from '../../mail/engine/hand-over.ts';
import { type Suppressing, suppressing } from '../../mail/engine/suppression.ts';
import { isoInstant } from '../../store/columns.ts';
import type { HeavyReads } from '../../store/heavy-reads.ts';
import type { Database } from '../../store/sql.ts';
import { changedFields, factsOf } from './findings.ts';
import {
  failDryRun,
  finishDryRun,
  loadDryRun,
  mailByDomain,
  type OpenDryRun,
  type ReviewedPage,
  readContacts,
  sampledContacts,
  savePage,
} from './queries.ts';
import { chained, exampleContacts, type Findings, tally } from './report.ts';
import { type ComposeNoted, DryRound, sink } from './round.ts';

/** The parts that a dry run needs. */
export interface DryRunDeps {
  db: Database;
  /** For audiences, which may take a while to find. */
  heavyReads: HeavyReads;
  log: Parameters<typeof handOver>[0]['log'];
  prepare: PrepareCampaign;
  /** As in delivery lanes, whose turns a dry run shares. */
  rendering: LimitFunction;
  /** Setting SEND_CHUNK: contacts of a page. */
  chunk: number;
  /** How long is rested after rendering some messages, as a multiple of the time that took: the same process delivers mail. */
  rest: number;
}

/** How far a dry run has come. `over`: it has ended, or somebody ended it. `busy`: another one of the project is under way. */
export interface DryRunShare {
  state: 'unfinished' | 'over' | 'busy';
  contacts: number;
}

/** When a share ends. */
export interface DryRunShareOptions {
  stop: AbortSignal;
  longestMs: number;
  onPage(contacts: number): void;
}

/** The renderer of a share, and what keeps mail back. That is read once for it, not for each page as in delivery. */
interface Review {
  compose: ComposeNoted;
  suppressing: Suppressing | null;
}

// Read at once, so that no snapshot and no connection is held while their messages are rendered.
const contactsPerRead = 50_000;
const samples = 10;
// Rendered without a rest: one or two milliseconds of work.
const messagesPerBite = 100;
const longestRestMs = 500;

/**
 * Goes on with a dry run from where it stands: the decisions and the rendering of a delivery lane, with nobody at the end. May
 * be repeated and cut off at any moment. What it finds that makes a review pointless ends it as failed, with the reason.
 */
export async function reviewShare(deps: DryRunDeps, id: string, options: DryRunShareOptions): Promise<DryRunShare> {
  const endsAt = performance.now() + options.longestMs;
  let run = await loadDryRun(deps.db, id);
  if (run?.state !== 'RUNNING') return { state: 'over', contacts: run?.audience ?? 0 };
  const fault = await faultOf(deps.db, run);
  const content = fault === null ? await loadContent(deps.db, run.campaignId, run.sendSeq) : null;
  if (content === null) {
    await failDryRun(deps.db, id, fault ?? 'The campaign was deleted');
    return { state: 'over', contacts: run.audience };
  }
  const ids = await nextContacts(deps, run);
  if (ids === null) return { state: 'over', contacts: run.audience };
  const pages = pagesOf(ids, claimSize(content, deps.chunk));
  const isCut = () => options.stop.aborted || performance.now() > endsAt;
  const how = { compose: deps.prepare(content), suppressing: await suppressing(deps.db, run.projectId, run) };
  const passed = await reviewPages(deps, run, how, pages, isCut, options.onPage);
  run = passed.run;
  if (!passed.isWhole || ids.length === contactsPerRead) return { state: 'unfinished', contacts: run.audience };
  await finish(deps.db, run);
  return { state: 'over', contacts: run.audience };
}

function pagesOf(ids: readonly string[], size: number): (readonly string[])[] {
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, page) => ids.slice(page * size, (page + 1) * size));
}

/**
 * Reviews page after page. While one is rendered, the next is read and the one before is written, so that rendering and Postgres work
 * side by side. Answers how far the run has come, and whether it has passed all of them: it may have been cut off, moved by another
 * attempt or ended by somebody.
 */
async function reviewPages(
  deps: DryRunDeps,
  from: OpenDryRun,
  how: Review,
  pages: readonly (readonly string[])[],
  isCut: () => boolean,
  onPage: (contacts: number) => void,
): Promise<{ run: OpenDryRun; isWhole: boolean }> {
  const read = (page: number) => handled(readContacts(deps.db, from.projectId, pages[page] ?? []));
  let run = from;
  let reading = read(0);
  let saving: Promise<OpenDryRun | null> = Promise.resolve(run);
  try {
    for (const [page, ids] of pages.entries()) {
      if (isCut()) break;
      const recipients = await reading;
      if (page + 1 < pages.length) reading = read(page + 1);
      const reviewed = await reviewPage(deps, run, how, ids, recipients);
      const saved = await saving;
      if (saved === null) return { run: from, isWhole: false };
      onPage(saved.audience);
      saving = handled(saveReviewed(deps.db, run, reviewed));
      run = nextOf(run, reviewed);
    }
    const last = await saving;
    if (last !== null) onPage(last.audience);
    return { run: last ?? from, isWhole: last !== null && last.through === (pages.at(-1)?.at(-1) ?? from.through) };
  } finally {
    await Promise.allSettled([reading, saving]);
  }
}

/** A promise that is awaited later, whose failure is not unhandled until then. */
function handled<Result>(work: Promise<Result>): Promise<Result> {
  work.catch(() => undefined);
  return work;
}

/** Writes a page down. Answers the run after it, or null where the run has moved or is over. */
async function saveReviewed(db: Database, run: OpenDryRun, page: ReviewedPage): Promise<OpenDryRun | null> {
  return (await savePage(db, run, page)) ? nextOf(run, page) : null;
}

function nextOf(run: OpenDryRun, { through, findings, chain, reviewed, rendered }: ReviewedPage): OpenDryRun {
  const audience = run.audience + reviewed.length;
  return { ...run, through, findings, chain, audience, rendered: run.rendered + rendered };
}

/** Why a dry run cannot go on; null where it can. */
async function faultOf(db: Database, run: OpenDryRun): Promise<string | null> {
  if (run.projectDisabled) return 'The project is disabled';
  if (run.status === null) return 'The campaign was deleted';
  if (!editableStatuses.has(run.status)) return 'The campaign was sent meanwhile';
  const now = await factsOf(db, run.projectId, run.campaignId);
  const changed = now === null ? [] : changedFields(run.facts, now);
  return changed.length === 0 ? null : `The campaign was changed meanwhile: ${changed.join(', ')}`;
}

/** The next contacts of the audience; null when it cannot be read, which ends the run. */
async function nextContacts({ db, heavyReads }: DryRunDeps, run: OpenDryRun): Promise<string[] | null> {
  try {
    // Windows of time count back from one instant, however many shares it takes.
    const now = new Date(isoInstant(run.startedAt));
    const start = { after: run.through ?? leastId, createdBy: run.startedAt, now };
    return await readAudience(heavyReads.of(run.projectId), run, start, contactsPerRead);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    await failDryRun(db, run.id, `The audience cannot be read: ${error.message}`);
    return null;
  }
}

async function reviewPage(
  deps: DryRunDeps,
  run: OpenDryRun,
  { compose, suppressing }: Review,
  ids: readonly string[],
  recipients: readonly ClaimedRecipient[],
): Promise<ReviewedPage> {
  const { db, log, rendering, rest } = deps;
  const { projectDisabled, domainVerified } = run;
  const round = new DryRound({
    id: run.id,
    projectId: run.projectId,
    suppressing,
    facts: { projectDisabled, domainVerified, needsSubscription: needsSubscription(run.type) },
    compose,
    recipients,
    most: messagesOf(run, ids.length),
  });
  let tookMs = 0;
  // A batch that takes long is left before its end, as in a lane, and goes on here. A sample is chosen among the whole page.
  while (round.open.size > 0) {
    const began = performance.now();
    const bite = [...round.open].slice(0, run.sample === null ? messagesPerBite : undefined);
    round.takenAt = began;
    await handOver({ db, mailer: sink, log, rendering }, round, bite, (outcomes) => round.settle(outcomes));
    const biteMs = performance.now() - began;
    tookMs += biteMs;
    await pause(Math.min(longestRestMs, rest * biteMs));
  }
  const renderMs = run.sample === null ? tookMs : round.composeMs;
  const { rendered } = round;
  const reviewed = round.reviewed.sort((a, b) => (a.contactId < b.contactId ? -1 : 1));
  const through = ids.at(-1) ?? leastId;
  const findings = tally(run.findings, reviewed);
  const chain = chained(run.chain, reviewed);
  return { through, reviewed, findings, chain, rendered, renderMs };
}

/**
 * How many messages a page renders, so that those of a sample are spread over the whole audience. A page makes up for earlier
 * ones of which fewer could be rendered.
 */
function messagesOf({ sample, expected, audience, rendered }: OpenDryRun, contacts: number): number {
  if (sample === null) return Number.POSITIVE_INFINITY;
  const share = Math.min(1, (audience + contacts) / Math.max(1, expected));
  return Math.max(0, Math.floor(sample * share) - rendered);
}

async function finish(db: Database, run: OpenDryRun): Promise<void> {
  const fault = await faultOf(db, run);
  if (fault !== null) {
    await failDryRun(db, run.id, fault);
    return;
  }
  const [byProvider, sampled] = await Promise.all([mailByDomain(db, run.id), sampledContacts(db, run.id, samples)]);
  const shown = [...new Set([...exampleContacts(run.findings), ...sampled])].slice(0, samples);
  const findings: Findings = { ...run.findings, byProvider, samples: shown };
  const fingerprint = hash('sha256', JSON.stringify([run.facts, run.chain.toString('hex')]), 'hex');
  await finishDryRun(db, run.id, { findings, fingerprint });
}
