import { trackEvent } from '../src/contacts/events/queries.ts';
import { newId } from '../src/lib/ids.ts';
import type { Database } from '../src/store/sql.ts';
import { benchServices, benchStore } from './support/services.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const contacts = 20_000;
const callsPerRound = 1_500;

type Kind = 'data that is there already' | 'a value that changes' | 'a new contact';
const kinds: Record<Kind, (call: number) => { email: string; data: Record<string, string | number> }> = {
  'data that is there already': (call) => ({ email: address(call), data: { plan: 'free' } }),
  'a value that changes': (call) => ({ email: address(call), data: { amount: Math.random() } }),
  'a new contact': () => ({
    email: `${newId()}@example.com`,
    data: { plan: 'free', country: 'DE', score: 5, name: 'Ada' },
  }),
};
const address = (call: number) => `person.${(call * 7_919) % contacts}@example.com`;

/** Measures the cost of the field catalogue in the statement of `/v1/track`: with its triggers and without them, in turns. */
export async function benchFieldCatalogue(): Promise<void> {
  await using services = await benchServices({ temporal: false });
  await using store = await benchStore(services.databaseUrl, 1);
  const { db } = store;
  const projectId = await anAudience(db);
  console.log(`\nCatalogue of fields: ${rounds} rounds of ${callsPerRound} statements one after the other`);
  const times = new Map<string, number[]>();
  let call = 0;
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? ['without', 'with'] : ['with', 'without']) {
      await db.rows(`alter table contacts ${side === 'with' ? 'enable' : 'disable'} trigger user`);
      for (const [kind, order] of Object.entries(kinds)) {
        const began = performance.now();
        for (let each = 0; each < callsPerRound; each++) await track(db, projectId, order(call++));
        const key = `${kind}/${side}`;
        times.set(key, [...(times.get(key) ?? []), (performance.now() - began) / callsPerRound]);
      }
    }
  }
  for (const kind of Object.keys(kinds)) {
    const [kept, bare] = [median(times.get(`${kind}/with`)), median(times.get(`${kind}/without`))];
    const figure = (time: number) => `${(time * 1_000).toFixed(0).padStart(6)} µs`;
    console.log(
      `  ${kind.padEnd(28)} with ${figure(kept)}   without ${figure(bare)}   ratio of statements a second ${(bare / kept).toFixed(2)}`,
    );
  }
}

async function anAudience(db: Database): Promise<string> {
  const projectId = newId();
  await db.count(
    `insert into projects (id, name, public_key_hash, secret_key_hash, public_key_sealed, secret_key_sealed)
     values ($1, 'Bench', 'a', 'b', '', '')`,
    [projectId],
  );
  await db.count(
    `insert into contacts (id, project_id, email, subscribed, data)
     select uuidv7(), $1, 'person.' || n || '@example.com', true,
       jsonb_build_object('plan', 'free', 'score', n % 1000, 'country', 'DE', 'firstName', 'Person ' || n)
     from generate_series(0, $2::integer) n`,
    [projectId, contacts],
  );
  await db.rows('vacuum (analyze) contacts');
  return projectId;
}

function track(
  db: Database,
  projectId: string,
  { email, data }: { email: string; data: Record<string, string | number> },
) {
  const change = { email, subscribed: null, set: data, remove: [] };
  return trackEvent(db, projectId, change, { name: 'purchase', data });
}

function median(times: readonly number[] = []): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN;
}

if (import.meta.main) await benchFieldCatalogue();
