import { foldContactChanges } from '../src/contacts/catalogue-queries.ts';
import { countNewEvents } from '../src/contacts/events/counting-queries.ts';
import { startApi } from '../src/main/api/api-runtime.ts';
import type { FirstProjectFacts } from '../src/main/projects/first-project.ts';
import { createLogger } from '../src/main/setup/process.ts';
import type { Database } from '../src/store/sql.ts';
import { audienceSize, fillAudience } from './support/audience.ts';
import { tellPlans } from './support/plans.ts';
import { benchWorld } from './support/world.ts';

const repeats = 15;

/** Lists, searches, counts, fields and events of a large audience by HTTP; BENCH_PLANS=1 prints the plans as well. */
export async function benchAudience(): Promise<void> {
  const size = audienceSize();
  await using world = await benchWorld();
  const { config, project, db } = world;
  console.log(`\nAudience: ${size.contacts} contacts, ${size.events} events`);
  await fillAudience(db, project.projectId, size);
  await keepBooks(db, project.projectId, size.contacts);
  await using api = await startApi({ ...config, PORT: 0 }, createLogger(config, 'api'));
  await reads(api.url, project);
  await writesSeenAtOnce(api.url, project);
  if (process.env.BENCH_PLANS) await tellPlans(db, project.projectId);
}

/** The generated rows were written past the triggers; what workers do as rows come is done here for all of them. */
async function keepBooks(db: Database, projectId: string, contacts: number): Promise<void> {
  await db.count('insert into contact_changes select project_id, data, subscribed, 1 from contacts');
  const began = performance.now();
  await foldContactChanges(db, projectId);
  const folded = performance.now();
  console.log(
    `  catalogue of fields: ${(((folded - began) * 1_000) / contacts).toFixed(0)} µs a changed contact, in the background`,
  );
  while ((await countNewEvents(db)) === 0) await new Promise((resolve) => setTimeout(resolve, 1_000));
  console.log(`  counts of all events by day: ${ms(performance.now() - folded)}, in the background`);
  for (const table of ['contact_changes', 'contact_fields', 'contact_field_values', 'contact_totals', 'event_counts'])
    await db.rows(`vacuum (analyze) ${table}`);
}

type Call = (path: string, method?: string, body?: object) => Promise<Record<string, unknown>>;

function caller(url: string, project: FirstProjectFacts): Call {
  return async (path, method = 'GET', body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${project.secretKey}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} ${answer.status}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
}

async function reads(url: string, project: FirstProjectFacts): Promise<void> {
  const call = caller(url, project);
  const show = async (name: string, path: string, method?: string, body?: object) => {
    const times: number[] = [];
    let answer: Record<string, unknown> = {};
    for (let round = 0; round < repeats; round++) {
      const began = performance.now();
      answer = await call(path, method, body);
      times.push(performance.now() - began);
    }
    const total = typeof answer.total === 'number' && answer.total > 0 ? `${answer.total}` : '';
    const middle = median(times);
    console.log(
      `  ${name.padEnd(52)} ${total.padStart(8)} median ${ms(middle)}   ratio to 100 ms ${(middle / 100).toFixed(2)}   first ${ms(times[0] ?? 0)}`,
    );
    return answer;
  };
  console.log(' contacts');
  const first = await show('first page, newest first', '/contacts');
  await show('the page after it', `/contacts?cursor=${String(first.cursor)}`);
  await show('first page by address, 100 of them', '/contacts?sort=email&dir=asc&limit=100');
  await show('not subscribed', '/contacts?subscribed=false');
  await show('search: one person', '/contacts?search=person.424242@');
  await show('search: a hundred', '/contacts?search=on.4242');
  await show('search: a third of all', '/contacts?search=kunde.example');
  await show('search: everybody', '/contacts?search=person');
  await show('search: two letters, everybody', '/contacts?search=er');
  await show('search: nobody', '/contacts?search=nobody.at.all');
  await show('search, subscribed, by address', '/contacts?search=on.4242&subscribed=true&sort=email');
  const emails = Array.from({ length: 500 }, (_, index) => `person.${index * 1_000}@example.com`);
  await show('lookup of 500 addresses', '/contacts/lookup', 'POST', { emails });
  console.log(' fields');
  await show('all fields', '/contacts/fields');
  await show('values of a field with four', '/contacts/fields/plan/values');
  await show('values of a field with a thousand', '/contacts/fields/score/values');
  await show('values of a field with a million', '/contacts/fields/firstName/values');
  await show('usage of a field', '/contacts/fields/data.plan/usage');
  console.log(' events');
  const { events } = (await show('newest', '/events')) as { events: { contactId: string }[] };
  await show('newest of a name, 1,000 of them', '/events?eventName=purchase&limit=1000');
  await show('newest of a rare name', '/events?eventName=refund');
  await show('of one contact', `/events/contact/${events[0]?.contactId ?? ''}`);
  await show('counts by name, all time', '/events/stats');
  const day = (ago: number, time: string) =>
    `${new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)}T${time}Z`;
  const range = `startDate=${day(200, '07:30:00')}&endDate=${day(20, '19:45:00')}`;
  await show('counts by name, half a year with parts of days', `/events/stats?${range}`);
  await show('names', '/events/names');
  await show('usage of a rare event', '/events/refund/usage');
  await show('usage of an event with half a million', '/events/purchase/usage');
}

/** How long the first read takes that follows a write of a key nobody had. */
async function writesSeenAtOnce(url: string, project: FirstProjectFacts): Promise<void> {
  const call = caller(url, project);
  const times: number[] = [];
  for (let round = 0; round < repeats; round++) {
    const key = `fresh key ${round}`;
    await call('/contacts', 'POST', { email: `fresh.${round}@example.com`, data: { [key]: round } });
    const began = performance.now();
    const { fields } = (await call('/contacts/fields')) as { fields: { field: string }[] };
    times.push(performance.now() - began);
    if (!fields.some(({ field }) => field === `data.${key}`)) throw new Error('A new key was not seen');
  }
  console.log(` a new key is seen at the next call: median ${ms(median(times))}`);
}

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function ms(time: number): string {
  return `${time.toFixed(time < 100 ? 1 : 0)} ms`.padStart(9);
}

if (import.meta.main) await benchAudience();
