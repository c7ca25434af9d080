import type { Answer, TestApi, TestProject } from './api.ts';
import { audience } from './audience.ts';
import type { TestDatabase } from './database.ts';

/** A filter of a condition tree. */
export type TestFilter = Record<string, unknown>;

/** A condition tree. */
export interface TestCondition {
  logic: string;
  groups: { filters: TestFilter[] }[];
}

/** A condition of one group: all filters must hold. */
export const allOf = (...filters: TestFilter[]): TestCondition => ({ logic: 'AND', groups: [{ filters }] });
/** A condition of one group for each filter: one must hold. */
export const anyOf = (...filters: TestFilter[]) => ({
  logic: 'OR',
  groups: filters.map((filter) => ({ filters: [filter] })),
});
/** `data.<key> equals value`. */
export const dataIs = (key: string, value: unknown): TestFilter => ({
  field: `data.${key}`,
  operator: 'equals',
  value,
});

/** What a test does with segments, through the API of one project. */
export interface SegmentHand {
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Creates a segment and answers its body; fails the test when that is refused. */
  segment(body: Record<string, unknown>): Promise<Answer['body']>;
  /** Creates or changes a contact; answers its id. */
  contact(email: string, data?: Record<string, unknown>): Promise<string>;
  /** The segment's events in the order they were told: `name address`. */
  told(segmentId: string): Promise<string[]>;
  /** Addresses of the members by the membership rows, sorted. */
  members(segmentId: string): Promise<string[]>;
  memberCount(segmentId: string): Promise<number>;
}

/** Addresses of the shared audience file that no other test of the same project uses. */
export function addresses(count: number, from = 0): string[] {
  return audience()
    .slice(from, from + count)
    .map((person) => person.email);
}

/** The hand of a project. */
export function segmentHand(api: TestApi, database: TestDatabase, project: TestProject): SegmentHand {
  const call: SegmentHand['call'] = (method, path, body) => api.call(project.secretKey, method, path, body);
  const accepted = async (expected: number[], method: string, path: string, body: unknown) => {
    const answer = await call(method, path, body);
    if (!expected.includes(answer.status)) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    call,
    segment: (body) => accepted([201], 'POST', '/segments', { name: 'Segment', ...body }),
    contact: async (email, data = {}) => (await accepted([200, 201], 'POST', '/contacts', { email, data })).id,
    async told(segmentId) {
      const rows = await database.db.rows<{ line: string }>(
        `select e.name || ' ' || c.email as line from events e join contacts c on c.id = e.contact_id
         where e.project_id = $1 and e.data ->> 'segmentId' = $2
           -- By transaction: the instants of two requests may be one and the same millisecond.
           order by e.xmin::text::bigint, e.name, c.email`,
        [project.id, segmentId],
      );
      return rows.map((row) => row.line);
    },
    async members(segmentId) {
      const rows = await database.db.rows<{ email: string }>(
        `select c.email from segment_memberships m join contacts c on c.id = m.contact_id
         where m.segment_id = $1 and m.exited_at is null order by c.email collate "C"`,
        [segmentId],
      );
      return rows.map((row) => row.email);
    },
    memberCount: async (segmentId) => (await accepted([200], 'GET', `/segments/${segmentId}`, undefined)).memberCount,
  };
}
