import { isDeepStrictEqual } from 'node:util';
import { badRequest, notFound } from '../../lib/errors.ts';
import { checkedDefinition } from '../../segments/definition.ts';
import { type Database, localSettings, type Query, sql } from '../../store/sql.ts';
import type { Campaign } from '../entity.ts';
import type { UpdateCampaign } from '../schema.ts';
import { type Audience, audienceRule, inBaseAudience } from './audience.ts';

/** @throws 400 for an audience without what its type needs */
export function checkCompanions(body: UpdateCampaign): void {
  if (body.audienceType === 'SEGMENT' && !body.segmentId)
    throw badRequest('"segmentId" is required with audienceType SEGMENT');
  if (body.audienceType === 'FILTERED' && !body.audienceCondition)
    throw badRequest('"audienceCondition" is required with audienceType FILTERED');
}

/** @throws 404 for a segment that the project does not have, 400 for a faulty condition */
export async function checkAudience(
  tx: Database,
  projectId: string,
  {
    audienceType,
    segmentId,
    audienceCondition,
  }: Pick<UpdateCampaign, 'audienceType' | 'segmentId' | 'audienceCondition'>,
): Promise<void> {
  if (audienceType === 'SEGMENT' && segmentId) {
    // Held until the transaction ends, so that the segment cannot be deleted before the campaign that uses it is there.
    const held = await tx.row(
      sql`select 1 as found from segments where project_id = ${projectId} and id = ${segmentId} for key share`,
    );
    if (held === null) throw notFound('segment', segmentId);
  }
  if (audienceType === 'FILTERED' && audienceCondition) await checkedDefinition(tx, projectId, audienceCondition);
}

/** Whether a change names another audience than the campaign has. */
export function changesAudience(campaign: Campaign, body: UpdateCampaign): boolean {
  const differs = (given: unknown, stored: unknown) => given !== undefined && !isDeepStrictEqual(given, stored ?? null);
  return (
    differs(body.audienceType, campaign.audienceType) ||
    differs(body.segmentId, campaign.segmentId) ||
    differs(body.audienceCondition, campaign.audienceCondition)
  );
}

/** Reads the ids of an audience once, page by page, in their order. Close it. */
export interface AudienceCursor {
  /** The next ids; fewer than asked for at the end. Rejects when the connection broke. */
  next(size: number): Promise<string[]>;
  close(): Promise<void>;
}

/** Where in an audience to begin, and who is too new for it. */
interface AudienceStart {
  /** Only contacts after this one. */
  after: string;
  /** Only contacts that were there at this instant, as Postgres writes it. */
  createdBy: string;
  now: Date;
}

/** The query for the ids of an audience, in their order. @throws 400 for a stored condition that can no longer be read */
async function audienceQuery(
  db: Database,
  audience: Audience,
  { after, createdBy, now }: AudienceStart,
): Promise<Query> {
  return sql`
    declare campaign_audience no scroll cursor for
    select c.id from contacts c
    where ${inBaseAudience(audience)} and c.id > ${after}::uuid and c.created_at <= ${createdBy}::timestamptz
      and ${await audienceRule(db, audience, now)}
    order by c.id`;
}

// All rows are read: without this Postgres would plan for the first tenth of them.
const readsAll = localSettings({ cursor_tuple_fraction: 1 });
// Rows that arrive together are parsed in one turn of the event loop.
const idsPerFetch = 2_000;
const fetchIds = (size: number) => `fetch forward ${Math.trunc(size)} from campaign_audience`;

/** The first ids of an audience, read in a transaction that ends with them. @throws 400 as `openAudience` */
export function readAudience(db: Database, audience: Audience, start: AudienceStart, size: number): Promise<string[]> {
  return db.transaction(async (tx) => {
    const { text, values } = await audienceQuery(tx, audience, start);
    await tx.count(text, values);
    const ids: string[] = [];
    for (;;) {
      const wanted = Math.min(idsPerFetch, size - ids.length);
      const rows = await tx.rows<{ id: string }>(fetchIds(wanted));
      for (const { id } of rows) ids.push(id);
      if (rows.length < wanted || ids.length === size) return ids;
    }
  }, readsAll);
}

/**
 * Evaluates an audience once and reads it on a connection of its own until it is closed: a condition that is planned and
 * evaluated anew for each page costs as much each time as for the whole audience. The transaction only reads, and stays open
 * for as long as the pages take, some seconds for each hundred thousand; a cursor that outlives its transaction would not
 * pass through a pooler.
 * @throws 400 for a stored condition that can no longer be read
 */
export async function openAudience(db: Database, audience: Audience, start: AudienceStart): Promise<AudienceCursor> {
  const { text, values } = await audienceQuery(db, audience, start);
  const client = await db.pool.connect();
  const close = async () => {
    const broken = await client.query('rollback').then(
      () => undefined,
      (error: Error) => error,
    );
    client.release(broken);
  };
  try {
    await client.query(`begin read only; ${readsAll}`);
    await client.query(text, [...values]);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async next(size) {
      const { rows } = await client.query<{ id: string }>(fetchIds(size));
      return rows.map(({ id }) => id);
    },
    close,
  };
}
