import type { Database } from '../db/sql.ts';
import { type Audience, type AudienceRule, audienceRule, baseAudience, needsSubscription } from './audience.ts';

/** Reads the ids of an audience once, page by page, in their order. Close it. */
export interface AudienceCursor {
  /** The next ids; fewer than asked for at the end. Rejects when the connection broke. */
  next(size: number): Promise<string[]>;
  close(): Promise<void>;
}

/** Where in an audience to begin, and who is too new for it. */
export interface AudienceStart {
  /** Only contacts after this one. */
  after: string;
  /** Only contacts that were there at this instant, as Postgres writes it. */
  createdBy: string;
  now: Date;
}

/**
 * Evaluates an audience once and keeps the result in Postgres, on a connection of its own, until the cursor is closed:
 * a condition that is planned and evaluated anew for each page costs as much each time as for the whole audience.
 * Committing a holdable cursor evaluates it, so that no transaction stays open while it is read.
 * @throws 400 for a stored condition that can no longer be read
 */
export async function openAudience(
  db: Database,
  audience: Audience,
  { after, createdBy, now }: AudienceStart,
): Promise<AudienceCursor> {
  const rule = await audienceRule(db, audience, now, 5);
  const client = await db.pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    await client.query(declare(rule), [
      audience.projectId,
      needsSubscription(audience.type),
      after,
      createdBy,
      ...rule.params,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    client.release(broken);
    throw error;
  }
  return {
    async next(size) {
      try {
        const { rows } = await client.query<{ id: string }>(`fetch forward ${Math.trunc(size)} from campaign_audience`);
        return rows.map(({ id }) => id);
      } catch (error) {
        broken = error as Error;
        throw error;
      }
    },
    async close() {
      if (broken === undefined)
        await client.query('close campaign_audience').catch((error: Error) => {
          broken = error;
        });
      client.release(broken);
    },
  };
}

function declare(rule: AudienceRule): string {
  return `declare campaign_audience no scroll cursor with hold for
    select c.id from contacts c
    where ${baseAudience} and c.id > $3::uuid and c.created_at <= $4::timestamptz and ${rule.sql}
    order by c.id`;
}
