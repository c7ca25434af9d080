import { dayMs } from '../../src/lib/time.ts';
import type { Database } from '../../src/store/sql.ts';

/** A row of `events`. */
export interface EventRow {
  id: string;
  project_id: string;
  contact_id: string | null;
  email_id: string | null;
  name: string;
  data: object | null;
  created_at: string;
  mail_at: string | null;
  limited_by: string | null;
}

/** Numbers between 0 and 1 that are the same for a seed. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** An ID that an event of that instant may have. */
function idAt(at: number, random: () => number): string {
  const digits = (count: number) =>
    Array.from({ length: count }, () => Math.floor(random() * 16).toString(16)).join('');
  const time = Math.floor(at).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${digits(3)}-8${digits(3)}-${digits(12)}`;
}

const often = [
  'app.opened',
  'app.opened',
  'app.opened',
  'page.seen',
  'page.seen',
  'email.open',
  'email.click',
  'order.paid',
];
const seldom = ['plan.changed', 'trial.extended', 'invoice.failed', 'contact.unsubscribed', 'contact.subscribed'];

/**
 * Random events of the days between two instants, in their order: things that people do often, things that they do seldom, and some do nothing any more after
 * a while. `endOf` says until when a person does something.
 */
export function eventsBetween(
  { projectId, people, perDay }: { projectId: string; people: readonly string[]; perDay: number },
  from: number,
  until: number,
  random: () => number,
  endOf: (person: string) => number,
): EventRow[] {
  const any = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const instants = Array.from(
    { length: Math.round(((until - from) / dayMs) * perDay) },
    () => from + Math.floor(random() * (until - from)),
  ).toSorted((one, other) => one - other);
  return instants.flatMap((at) => {
    const person = random() < 0.03 ? null : any(people);
    if (person !== null && at > endOf(person)) return [];
    const name = person === null ? 'campaign.sent' : random() < 0.05 ? any(seldom) : any(often);
    const isMail = name === 'email.open' || name === 'email.click';
    const iso = new Date(at).toISOString();
    return {
      id: idAt(at, random),
      project_id: projectId,
      contact_id: person,
      email_id: isMail ? idAt(at - dayMs, random) : null,
      name,
      data:
        name === 'order.paid'
          ? { total: Math.floor(random() * 9) }
          : name === 'email.click'
            ? { link: `https://l.example/${Math.floor(random() * 3)}` }
            : {},
      created_at: iso,
      mail_at: isMail ? iso : null,
      limited_by: null,
    };
  });
}

/** Inserts rows as they are into a table whose columns they name. */
export async function insertRows(db: Database, table: string, rows: readonly object[]): Promise<void> {
  await db.count(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`, [
    JSON.stringify(rows),
  ]);
}

/** Copies the rows of a table from one database to another. */
export async function copyRows(from: Database, to: Database, ...tables: string[]): Promise<void> {
  for (const table of tables) {
    const row = await from.row<{ rows: object[] | null }>(`select jsonb_agg(to_jsonb(t)) as rows from ${table} t`);
    await insertRows(to, table, row?.rows ?? []);
  }
}
