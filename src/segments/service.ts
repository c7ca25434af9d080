import { contactBody } from '../contacts/list-queries.ts';
import { automationsUsingSegment } from '../contacts/usage.ts';
import { refuseOvergrowth } from '../lib/conditions/segments.ts';
import { badRequest, beyondRecipients, conflict, notFound } from '../lib/errors.ts';
import { checkSeen } from '../lib/ids.ts';
import { offsetAnswer, offsetPage } from '../lib/pages.ts';
import { recordChange } from '../projects/audit/record.ts';
import { type Database, limitingKey, repeatable } from '../store/sql.ts';
import { settledHorizon } from './changes.ts';
import {
  checkedDefinition,
  conditionObject,
  type Definition,
  lockSegment,
  Segment,
  storedDefinition,
  watchFacts,
} from './definition.ts';
import { createContacts, endMemberships, enterMembers, wantedAddresses } from './members.ts';
import { pageOfMatching, pageOfMembers } from './pages.ts';
import { campaignsUsing, countMatching, exactTotal, findListed, lockDefinitions, writeWatchFacts } from './queries.ts';
import type {
  AddMembers,
  ComputedMembers,
  CreateSegment,
  ListMembers,
  PatchSegment,
  PreviewSegment,
  RemoveMembers,
  SegmentBody,
} from './schema.ts';
import { computeMemberships, countNow, writeCount } from './settle.ts';

/** The segments of a project, newest first. */
export async function listSegments(db: Database, projectId: string): Promise<SegmentBody[]> {
  const segments = await db.em.find(Segment, { projectId }, { orderBy: { createdAt: 'desc', id: 'desc' } });
  return segments.map((segment) => segmentBody(segment));
}

/** Creates a segment; a DYNAMIC one is counted at once. No events. @throws 400 for its condition */
export async function createSegment(
  db: Database,
  projectId: string,
  body: CreateSegment,
  now: Date,
): Promise<SegmentBody> {
  const { name, description, type, trackMembership } = body;
  const tree =
    type === 'DYNAMIC' ? conditionObject(body.condition, '"condition" is required for a DYNAMIC segment') : null;
  return db.transaction(async (tx) => {
    if (tree !== null) await keepLimits(tx, { isTracked: trackMembership });
    const facts = { projectId, name, description: description ?? null, type, trackMembership, condition: tree };
    const segment = tx.em.create(Segment, facts);
    if (tree === null) {
      await tx.em.flush();
      return segmentBody(segment);
    }
    await lockDefinitions(tx, projectId);
    const definition = await checkedDefinition(tx, projectId, tree);
    await tx.em.flush();
    return segmentBody(segment, await writeDefinition(tx, segment, definition, now));
  });
}

/** One segment with its cached count. @throws 404 */
export async function getSegment(db: Database, projectId: string, id: string): Promise<SegmentBody> {
  return segmentBody(await load(db, projectId, id));
}

/** Segments of the project by id; ids that name none are left out. */
export async function segmentsByIds(
  db: Database,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, SegmentBody>> {
  if (ids.length === 0) return new Map();
  const segments = await db.em.find(Segment, { projectId, id: [...new Set(ids)] });
  return new Map(segments.map((segment) => [segment.id, segmentBody(segment)]));
}

/**
 * Changes a segment; a new condition is counted at once. No events.
 * @throws 404, 400 for its condition, 412 where `ifMatch` names another revision
 */
export async function patchSegment(
  db: Database,
  projectId: string,
  id: string,
  body: PatchSegment,
  now: Date,
  ifMatch = '',
): Promise<SegmentBody> {
  return db.transaction(async (tx) => {
    await lockDefinitions(tx, projectId);
    const segment = await locked(tx, projectId, id);
    checkSeen('segment', '/segments/{id}', segment, ifMatch);
    const dynamic = segment.type === 'DYNAMIC';
    const tree =
      dynamic && body.condition !== undefined ? conditionObject(body.condition, '"condition" must be an object') : null;
    const definition = tree && (await checkedDefinition(tx, projectId, tree, id));
    const retracked = body.trackMembership !== undefined && body.trackMembership !== segment.trackMembership;
    if (tree !== null || (dynamic && (retracked || (segment.trackMembership && body.name !== undefined))))
      await keepLimits(tx, { id, projectId, isTracked: segment.trackMembership || body.trackMembership === true });
    if (tree !== null) segment.condition = tree;
    if (body.name !== undefined) segment.name = body.name;
    if (body.description !== undefined) segment.description = body.description;
    if (body.trackMembership !== undefined) segment.trackMembership = body.trackMembership;
    await tx.em.flush();
    const memberCount = definition && (await writeDefinition(tx, segment, definition, now));
    // Segments that refer to this one may match other contacts now, and may depend on other things.
    if (dynamic && retracked)
      await writeWatchFacts(
        tx,
        id,
        watchFacts(definition ?? (await storedDefinition(tx, projectId, segment.condition))),
      );
    if (dynamic && (definition !== null || retracked)) await settleAnew(tx, projectId, id);
    return segmentBody(segment, memberCount ?? segment.memberCount);
  });
}

/**
 * Deletes a segment with its memberships; filters that refer to it match no contact, or every contact where they
 * ask for non-members. @throws 404, 409 while a campaign that is not over goes to it, or a workflow enrolls or asks for it
 */
export async function deleteSegment(db: Database, projectId: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    await lockDefinitions(tx, projectId);
    await locked(tx, projectId, id);
    const campaigns = await campaignsUsing(tx, projectId, id);
    if (campaigns > 0) {
      const which =
        campaigns === 1 ? 'A campaign that is not over goes' : `${campaigns} campaigns that are not over go`;
      throw conflict(`${which} to this segment: send, cancel or change them first`, { campaigns });
    }
    const workflows = await automationsUsingSegment(tx, projectId, id);
    if (workflows.length > 0) {
      const names = workflows.slice(0, 5).map(({ name }) => `"${name}"`);
      const use = workflows.every(({ enrolls }) => enrolls) ? 'Scheduled workflows enroll' : 'Workflows use';
      throw conflict(`${use} this segment: ${names.join(', ')}`, { workflows: workflows.length });
    }
    const dependents = await dependentsOf(tx, projectId, id);
    await keepLimits(tx, { id, projectId, isTracked: false });
    await tx.em.nativeDelete(Segment, { projectId, id });
    await settleAnew(tx, projectId, id, dependents);
    await recordChange(tx, projectId, { action: 'segment.deleted', target: id });
  });
}

/** A page of the contacts of a segment: current matches, or members. @throws 404 */
export async function segmentContacts(db: Database, projectId: string, id: string, query: ListMembers, now: Date) {
  const segment = await findListed(db, projectId, id);
  if (segment === null) throw notFound('segment', id);
  const page = offsetPage(query, 100);
  const definition = segment.type === 'STATIC' ? null : await storedDefinition(db, projectId, segment.condition);
  const [rows, total] = await Promise.all([
    definition === null ? pageOfMembers(db, id, page) : pageOfMatching(db, projectId, definition, page, now),
    exactTotal(db, segment, definition, now),
  ]);
  return offsetAnswer(rows.map(contactBody), page, total);
}

const previewed = offsetPage({}, 10);

/**
 * How many contacts a condition matches, and the newest of them, ten unless fewer are asked for. Writes nothing.
 * @throws 400 for the condition, as creating a segment with it would
 */
export async function previewSegment(db: Database, projectId: string, body: PreviewSegment, now: Date) {
  const tree = conditionObject(body.condition, '"condition" must be an object');
  const definition = await checkedDefinition(db, projectId, tree);
  const [total, rows] = await Promise.all([
    countMatching(db, projectId, definition, now),
    body.limit === 0 ? [] : pageOfMatching(db, projectId, definition, { ...previewed, pageSize: body.limit }, now),
  ]);
  return { total, contacts: rows.map(contactBody) };
}

/** Checks that a job may add contacts to a segment. @throws 404, 400 for a DYNAMIC one, 403 as `addMembers` */
export async function checkStatic(db: Database, projectId: string, id: string): Promise<void> {
  refuseDynamic(await load(db, projectId, id));
  await keepLimits(db, { id, projectId, isTracked: false });
}

/** Adds contacts to a STATIC segment (docs/contract/core.md#4-1). @throws 404, 400 for a DYNAMIC one */
export async function addMembers(db: Database, projectId: string, id: string, body: AddMembers) {
  const { spellings, malformed } = wantedAddresses(body.emails);
  const emails = [...spellings.keys()];
  return repeatable(db, async (tx) => {
    const segment = await lockedStatic(tx, projectId, id);
    await keepLimits(tx, { id, projectId, isTracked: false });
    const created = body.createMissing ? await createContacts(tx, segment, emails, body.subscribed) : 0;
    const members = await enterMembers(tx, segment, emails, limitingKey(tx));
    const unknown = emails.filter((email) => !members.has(email)).map((email) => spellings.get(email) ?? email);
    const missing = new Set([...malformed, ...unknown]);
    return { added: members.size, created, notFound: body.emails.filter((spelling) => missing.delete(spelling)) };
  });
}

/** Removes contacts from a STATIC segment. @throws 404, 400 for a DYNAMIC one */
export async function removeMembers(db: Database, projectId: string, id: string, body: RemoveMembers) {
  const emails = [...wantedAddresses(body.emails).spellings.keys()];
  return repeatable(db, async (tx) => {
    const segment = await lockedStatic(tx, projectId, id);
    await keepLimits(tx, { id, projectId, isTracked: false });
    return { removed: await endMemberships(tx, segment, emails) };
  });
}

// A key with limits cannot decide whom mail of others reaches: by a segment that is evaluated later, when nobody knows who asked for it, or by
// one that campaigns or workflows of others go to.
async function keepLimits(
  tx: Database,
  { isTracked, ...segment }: { id?: string; projectId?: string; isTracked: boolean },
): Promise<void> {
  const key = limitingKey(tx);
  if (key === null) return;
  const { id, projectId } = segment;
  const isUsed = async (used: string, project: string) =>
    (await dependentsOf(tx, project, used)).length > 0 ||
    (await automationsUsingSegment(tx, project, used, key)).length > 0 ||
    (await campaignsUsing(tx, project, used, key)) > 0;
  if (!isTracked && (!id || !projectId || !(await isUsed(id, projectId)))) return;
  throw beyondRecipients(
    'cannot change who belongs to a dynamic segment that tracks its membership, nor to a segment that other segments, or campaigns or workflows of others, refer to',
    'Use a segment of its own without trackMembership, a key without limits, or sign in.',
  );
}

/** Evaluates a tracked segment for all contacts and writes its memberships and events. @throws 404, 400 untracked */
export async function computeSegment(db: Database, projectId: string, id: string, now: Date): Promise<ComputedMembers> {
  return repeatable(db, async (tx) => {
    const segment = await locked(tx, projectId, id);
    if (!segment.trackMembership)
      throw badRequest('This segment does not track its membership: set "trackMembership" first');
    const horizon = await settledHorizon(tx);
    if (segment.type === 'STATIC') {
      const total = await countNow(tx, segment, now);
      await writeCount(tx, id, total, horizon);
      return { added: 0, removed: 0, total };
    }
    const definition = await storedDefinition(tx, projectId, segment.condition);
    return computeMemberships(tx, segment, definition, { now, candidates: null, settledThrough: horizon });
  });
}

/** Counts the members of a segment anew. No memberships, no events. @throws 404 */
export async function refreshSegment(
  db: Database,
  projectId: string,
  id: string,
  now: Date,
): Promise<{ memberCount: number }> {
  return db.transaction(async (tx) => {
    const segment = await locked(tx, projectId, id);
    const horizon = await settledHorizon(tx);
    const memberCount = await countNow(tx, segment, now);
    await writeCount(tx, id, memberCount, horizon);
    return { memberCount };
  });
}

async function writeDefinition(db: Database, segment: Segment, definition: Definition, now: Date): Promise<number> {
  await writeWatchFacts(db, segment.id, watchFacts(definition));
  const horizon = await settledHorizon(db);
  const memberCount = await countMatching(db, segment.projectId, definition, now);
  await writeCount(db, segment.id, memberCount, horizon);
  return memberCount;
}

/** Has every segment that refers to this one evaluated in full, and writes what it depends on now. */
async function settleAnew(
  db: Database,
  projectId: string,
  id: string,
  dependents?: Awaited<ReturnType<typeof dependentsOf>>,
): Promise<void> {
  for (const { id: dependentId, name, condition } of dependents ?? (await dependentsOf(db, projectId, id))) {
    const definition = await storedDefinition(db, projectId, condition);
    try {
      refuseOvergrowth(definition.condition, definition.segments);
    } catch {
      throw badRequest(`The condition makes that of segment "${name}", which refers to this one, too large`, {
        path: '',
        segmentId: dependentId,
      });
    }
    await writeWatchFacts(db, dependentId, watchFacts(definition));
  }
}

async function load(db: Database, projectId: string, id: string): Promise<Segment> {
  const segment = await db.em.findOne(Segment, { projectId, id });
  if (segment === null) throw notFound('segment', id);
  return segment;
}

async function locked(tx: Database, projectId: string, id: string): Promise<Segment> {
  const segment = await lockSegment(tx, projectId, id);
  if (segment === null) throw notFound('segment', id);
  return segment;
}

async function lockedStatic(tx: Database, projectId: string, id: string): Promise<Segment> {
  const segment = await locked(tx, projectId, id);
  refuseDynamic(segment);
  return segment;
}

/** Returns the segments whose conditions refer to one, directly or through others. */
function dependentsOf(tx: Database, projectId: string, segmentId: string) {
  const refers = { projectId, watchedSegments: { $contains: [segmentId] } };
  return tx.em.find(Segment, refers, { fields: ['id', 'name', 'condition'], orderBy: { id: 'asc' } });
}

function refuseDynamic({ type }: Pick<Segment, 'type'>): void {
  if (type !== 'STATIC')
    throw badRequest('Members of a DYNAMIC segment are found by its condition and cannot be added or removed');
}

function segmentBody(segment: Segment, memberCount = segment.memberCount): SegmentBody {
  return {
    id: segment.id,
    name: segment.name,
    description: segment.description ?? null,
    type: segment.type,
    condition: segment.condition ?? null,
    trackMembership: segment.trackMembership,
    memberCount,
    revision: segment.revision,
    projectId: segment.projectId,
    createdAt: segment.createdAt.toISOString(),
    updatedAt: segment.updatedAt.toISOString(),
  };
}
