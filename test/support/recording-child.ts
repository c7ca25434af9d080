/**
 * Records executions by the code of an earlier release, which this program is given as a folder: its API takes events and changes, its
 * enroller, `advance` and `callWebhook` do what workers do. Only Temporal is stood in for: by a list of what is due, and a clock that goes on to it.
 * Arguments: the folder, the address of an empty database, the file to write, the number of graphs, executions of each, and a seed.
 */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { applicationPrefix } from '@fernpost/earlier-name';
import { pino } from 'pino';
import type { Directive } from '../../src/automations/runtime/directive.ts';
import type { Database } from '../../src/store/sql.ts';
import type { TestDatabase } from './database.ts';
import { movedClock } from './moved-clock.ts';
import { chooser, randomEarlierGraph } from './random-graphs.ts';
import { type RecordedExecutions, recordedTables } from './recorded-executions.ts';

const [root = '', url = '', file = '', graphs = '', each = '', seed = ''] = process.argv.slice(2);
const [wantedGraphs, perGraph] = [Number(graphs), Number(each)];
const choose = chooser(Number(seed));
const fractions = Array.from({ length: 997 }, (_, n) => n / 997);
const between = (from: number, until: number) => from + (until - from) * choose(fractions);

const load = (path: string): Promise<unknown> => import(pathToFileURL(join(root, path)).href);
const { migrateDatabase } = (await load('src/core/database/migrate.ts')) as {
  migrateDatabase(url: string): Promise<unknown>;
};
await migrateDatabase(url);
const { readConfig } = (await load('src/core/config/config.ts')) as {
  readConfig(env: object): Record<string, unknown>;
};
const config = {
  ...readConfig({
    NODE_ENV: 'test',
    DATABASE_URL: url,
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    TEMPORAL_SETUP: 'false',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'fatal',
  }),
  PORT: 0,
};
const { createFirstProject } = (await load('src/main/projects/first-project.ts')) as {
  createFirstProject(config: object): Promise<{ projectId: string; secretKey: string; sender: string }>;
};
const { projectId, secretKey, sender } = await createFirstProject(config);

const { openStore } = (await load('src/core/database/orm.ts')) as {
  openStore(settings: object, entities: unknown): Promise<{ db: Database; close(): Promise<void> }>;
};
const { entities } = (await load('src/main/setup/entities.ts')) as { entities: unknown };
const store = await openStore({ url, poolSize: 4, applicationName: `${applicationPrefix}worker` }, entities);
const { db } = store;
const clock = await movedClock({ url, db } as TestDatabase);
const { startApi } = (await load('src/main/api/api-runtime.ts')) as {
  startApi(config: object, log: unknown): Promise<{ url: string; close(): Promise<void> }>;
};
const api = await startApi(config, pino({ level: 'silent' }));
const { advance } = (await load('src/automations/runtime/advance.ts')) as {
  advance(deps: object, runId: string, seq: number | null): Promise<Directive>;
};
const { callWebhook } = (await load('src/automations/runtime/webhook-step.ts')) as {
  callWebhook(deps: object, id: string, signal: AbortSignal): Promise<{ outcome: string; afterMs?: number }>;
};
const { createEnroller } = (await load('src/automations/runtime/enrol.ts')) as {
  createEnroller(deps: object): () => Promise<number>;
};
const { foldContactChanges } = (await load('src/audience/contacts/catalogue-queries.ts')) as {
  foldContactChanges(db: Database, projectId: string): Promise<number>;
};
const { guardedConnector } = (await load('packages/guarded-requests/src/index.ts')) as {
  guardedConnector(settings: object, ms: number): unknown;
};

const receiver = createServer((request, answer) => {
  if (request.url?.startsWith('/never')) return void request.socket.destroy();
  answer.statusCode = request.url?.startsWith('/bad') ? 503 : 200;
  answer.setHeader('content-type', 'application/json').end('{"taken": true}');
}).listen(0, '127.0.0.1');
await new Promise((resolve) => receiver.once('listening', resolve));
const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of another release.
  body: any;
}
async function call(method: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${secretKey}`, ...(body && { 'content-type': 'application/json' }) };
  const answer = await fetch(`${api.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: await answer.json() };
}
async function done(method: string, path: string, body?: object): Promise<Answer['body']> {
  const answer = await call(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** What is still to come, the earliest first. */
const due: { at: number; act: () => Promise<void> }[] = [];
function at(instant: number, act: () => Promise<void>): void {
  const place = due.findLastIndex((one) => one.at <= instant);
  due.splice(place + 1, 0, { at: instant, act });
}
const seconds = 1_000;
const hours = 3_600 * seconds;
/** How late workers are. */
const soon = () => choose([0, 4, 45, 45, 300, 2 * seconds, 5 * seconds]);

const deps = { db, billing: { freeTier: null }, wake() {} };
const links = { pagesUrl: 'https://mail.test', apiUrl: 'https://mail.test', secret: 'a secret of the recording' };
const webhooks = { db, links, connect: guardedConnector({ allowedHosts: ['127.0.0.1'] }, 2_000) };
const enrolOnce = createEnroller({ db, startsPerHour: 0, dispatchSoon() {}, mostWaiting: 1_000_000 });
const woken = new Set<string>();

async function move(runId: string, contactId: string, seq: number | null): Promise<void> {
  const directive = await advance(deps, runId, seq);
  const { next } = directive;
  if (next === 'http') at(Date.now() + soon(), () => request(runId, contactId, directive.stepRunId, directive.seq));
  else if (next === 'goOn') at(Date.now() + soon(), () => move(runId, contactId, directive.seq));
  else if (next === 'sleep' || next === 'wait') {
    const until = directive.until === null ? null : Date.parse(directive.until);
    if (until !== null) at(until + soon(), () => move(runId, contactId, directive.seq));
    const longest = until === null ? 72 * hours : until - Date.now();
    if (choose([true, false])) at(Date.now() + between(0, longest), () => happens(contactId));
    // At the very beginning, and around the very end.
    if (choose([true, false, false, false])) at(Date.now() + choose([0, 1, 20, 900]), () => happens(contactId));
    if (until !== null && choose([true, false, false, false]))
      at(until + choose([-900, -20, -2, 0, 2, 20, 900]), () => happens(contactId));
  }
}

async function request(runId: string, contactId: string, stepRunId: string, seq: number): Promise<void> {
  const { outcome, afterMs = 0 } = await callWebhook(webhooks, stepRunId, new AbortController().signal);
  if (outcome === 'again') at(Date.now() + afterMs, () => request(runId, contactId, stepRunId, seq));
  else at(Date.now() + soon(), () => move(runId, contactId, seq));
}

const emails = new Map<string, string>();
/** Something that the contact does, or somebody else does to it. */
async function happens(contactId: string): Promise<void> {
  const what = choose(['order', 'order', 'visit', 'tracked', 'data', 'subscribed'] as const);
  const total = choose([5, 80]);
  if (what === 'order' || what === 'visit')
    await done('POST', '/events/track', {
      contactId,
      name: what,
      data: choose<object>([{ total }, { item: { size: 'L' } }, {}]),
    });
  else if (what === 'tracked')
    await done('POST', '/events/track', {
      ...{ email: emails.get(contactId), event: choose(['order', 'visit']) },
      data: choose<object>([{ score: total }, { total: { value: total, persistent: false } }, { plan: 'free' }]),
    });
  else if (what === 'data')
    await done('PATCH', `/contacts/${contactId}`, {
      data: choose<object>([{ plan: 'pro' }, { score: 60 }, { plan: null }, { address: { city: 'Oslo' } }]),
    });
  else await done('PATCH', `/contacts/${contactId}`, { subscribed: choose([true, false]) });
  await wake();
}

/** Begins the executions that have been made, and wakes those whose event has come. */
async function wake(): Promise<void> {
  const runs = await db.rows<{ id: string; contactId: string; seq: number }>(
    `select r.id, r.contact_id as "contactId", r.seq from automation_runs r
     where r.status = 'RUNNING' and r.seq = 0
     union all select r.id, r.contact_id, r.seq from automation_step_runs x join automation_runs r on r.id = x.run_id
     where x.status = 'WAITING' and x.outcome is not null`,
  );
  for (const { id, contactId, seq } of runs) {
    if (woken.has(`${id} ${seq}`)) continue;
    woken.add(`${id} ${seq}`);
    at(Date.now() + soon(), () => move(id, contactId, seq));
  }
}

async function enrol(): Promise<void> {
  while ((await enrolOnce()) === 0);
  // What Temporal would be told.
  await db.count('delete from outbox');
  await wake();
}

const templates: string[] = [];
for (const type of ['TRANSACTIONAL', 'MARKETING']) {
  const body = { name: type, subject: 'Hello', body: '<p>Hello</p>', from: sender, type };
  templates.push((await done('POST', '/templates', body)).id);
}
const people: string[] = [];
for (let n = 0; n < wantedGraphs * 2; n += 1) {
  const known = { plan: choose(['pro', 'free', undefined]), score: choose([10, 60, '50', undefined]) };
  const data = {
    ...known,
    ends: choose(['2026-12-24', 'soon', undefined]),
    address: choose([{ city: 'Oslo' }, undefined]),
  };
  const body = { email: `person-${n}@example.com`, subscribed: choose([true, true, false]), data };
  const { id } = await done('POST', '/contacts', body);
  people.push(id);
  emails.set(id, body.email);
}
const automations: { id: string; event: string }[] = [];
let refused = 0;
while (automations.length < wantedGraphs) {
  const { steps, ways = [] } = randomEarlierGraph(choose, { templates, receiver: address });
  const event = `begins.${automations.length}`;
  const allowReentry = choose([true, false]);
  const { id } = await done('POST', '/workflows', { name: event, eventName: event, allowReentry });
  const [trigger] = (await done('GET', `/workflows/${id}`)).steps;
  const named = (name: string) => (name === 'trigger' ? trigger.id : name);
  const graph = {
    steps: [
      { ...{ id: trigger.id, type: 'TRIGGER', name: 'trigger' }, position: { x: 0, y: 0 }, config: trigger.config },
      ...Object.entries(steps).map(([name, [type, config = {}]]) => ({
        ...{ id: name, type, name, position: { x: 0, y: 0 }, config },
        templateId: (config as { templateId?: string }).templateId ?? null,
      })),
    ],
    transitions: ways.flatMap(([from, to]) => {
      const [step = '', end] = from.split('.');
      // A wait without a timeout has no such path.
      if (end === 'TIMEOUT' && !('timeout' in (steps[step]?.[1] ?? {}))) return [];
      const path =
        end === 'EVENT' || end === 'TIMEOUT' ? { waitOutcome: end } : end === undefined ? {} : { branch: end };
      return { fromStepId: named(step), toStepId: named(to), ...path };
    }),
  };
  const put = await call('PUT', `/workflows/${id}/graph`, graph);
  const enabled = put.status < 300 ? await call('PATCH', `/workflows/${id}`, { enabled: true }) : put;
  if (enabled.status < 300) automations.push({ id, event });
  else if (refused++ < 5) console.error(`refused: ${JSON.stringify(enabled.body).slice(0, 500)}`);
}
console.error(`${refused} graphs were refused`);

const from = new Date();
// A few enter while they are inside, or once more, and are refused; and some never leave.
const entries = Math.ceil(perGraph * 1.3);
for (const { id, event } of automations)
  for (let n = 0; n < entries; n += 1) {
    const contactId = choose(people);
    const enters = from.getTime() + between(1, 60 * 24) * hours;
    const isByHand = choose([true, false, false, false, false, false]);
    at(enters, async () => {
      if (isByHand) await call('POST', `/workflows/${id}/executions`, { contactId });
      else
        await done('POST', '/events/track', {
          ...{ email: emails.get(contactId), event },
          data: choose<object>([{ total: { value: 80, persistent: false } }, { total: 5 }, {}, { plan: 'pro' }]),
        });
      at(Date.now() + soon(), enrol);
    });
  }
for (let day = 1; day < 80; day += 2)
  at(from.getTime() + day * 24 * hours, async () => void (await foldContactChanges(db, projectId)));

const last = from.getTime() + 80 * 24 * hours;
let acts = 0;
for (let next = due.shift(); next && next.at <= last; next = due.shift()) {
  if (next.at > Date.now()) await clock.set(new Date(next.at));
  await next.act();
  if (++acts % 5_000 === 0) console.error(`${acts} acts, ${due.length} to come, ${new Date().toISOString()}`);
}

// As many executions of each graph as are wanted, with all that happened to whoever had one.
const kept = await db.rows<{ id: string }>(
  `select id from (select id, row_number() over (partition by automation_id order by id) as n from automation_runs
     where status not in ('RUNNING', 'WAITING')) r where n <= $1`,
  [perGraph],
);
const ids = kept.map(({ id }) => id);
const tables: RecordedExecutions['tables'] = {};
for (const [table, which] of Object.entries(recordedTables)) {
  const columns = await db.rows<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER' order by ordinal_position`,
    [table],
  );
  const rows = await db.rows<{ row: Record<string, unknown> }>(
    `select to_jsonb(t) as row from public.${table} t where ${which}`,
    which.includes('$1') ? [ids] : [],
  );
  tables[table] = Object.fromEntries(columns.map(({ name }) => [name, rows.map(({ row }) => row[name] ?? null)]));
}
const recorded: RecordedExecutions = { projectId, from: from.toISOString(), until: new Date().toISOString(), tables };
const text = JSON.stringify(recorded);
const params = {
  [constants.BROTLI_PARAM_QUALITY]: 11,
  [constants.BROTLI_PARAM_LGWIN]: 24,
  [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
};
writeFileSync(file, brotliCompressSync(text, { params }));
console.error(`${ids.length} executions, ${acts} acts`);
receiver.close();
process.exit(0);
