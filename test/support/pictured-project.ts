import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { postgresUrl } from '@fernpost/local-stack';
import { entities } from '../../src/main/setup/database-settings.ts';
import { keptSecrets } from '../../src/main/start/settings.ts';
import { openStore } from '../../src/store/orm.ts';
import type { Person } from './audience.ts';
import { type Seeded, seedDashboard } from './dashboard-seed.ts';
import { fillMonths } from './months-of-history.ts';
import type { Place } from './npm-start.ts';

interface FirstProject {
  projectId: string;
  publicKey: string;
  secretKey: string;
  sender: string;
  login: { email: string; password: string };
}

/** A project to take pictures of, and who signs in to look at it. */
export interface PicturedProject {
  login: FirstProject['login'];
  seeded: Seeded;
}

const drafts = ['Winter walks: who leads?', 'A year of counting', 'Save the date: general meeting'];
const colleagues = [
  'marit.haugen@wattenmeer.example',
  'joao.ferreira@wattenmeer.example',
  'olena.shevchenko@wattenmeer.example',
];

/** Fills the first project of a running `npm start` as one that has been in use for months, by its API and past it. */
export async function picturedProject(place: Place): Promise<PicturedProject> {
  const first = JSON.parse(readFileSync(join(place.dataDir, 'first-project.json'), 'utf8')) as FirstProject;
  const { projectId, secretKey, publicKey, sender, login } = first;
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(place.baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
  const url = postgresUrl({
    port: Number(place.env.POSTGRES_PORT),
    password: keptSecrets(place.dataDir).postgresPassword,
  });
  const store = await openStore({ url, poolSize: 2, applicationName: 'fernpost-pictures' }, entities);
  const port = await shopPort();
  try {
    await store.db.count(`update projects set name = 'Vogelfreunde am Wattenmeer' where id = $1`, [projectId]);
    const shown = await fillMonths(store.db, projectId, sender);
    await call('PUT', '/brand', {
      primaryColor: '#0f766e',
      postalAddress: 'Vogelfreunde am Wattenmeer e. V., Deichstraße 4, 25813 Husum',
    });
    const endpoint = await call('POST', '/webhook-endpoints', {
      url: `http://127.0.0.1:${port}/hooks/fernpost`,
      description: 'Booking system',
      events: ['visit.*', 'membership.*', 'guide.*', 'contact.*'],
    });
    // Those who came first, written again with what they have.
    const people = await store.db.rows<Person>(
      `select email, data ->> 'firstName' as "firstName", data from contacts where project_id = $1 order by created_at limit 60`,
      [projectId],
    );
    const seeded = await seedDashboard(
      { url: place.baseUrl, project: { id: projectId, secretKey, publicKey }, sender },
      { drafts, people },
    );
    for (const colleague of colleagues)
      await store.db.count(
        `with known as (insert into users (id, email, email_verified) values (uuidv7(), $1, true) returning id)
         insert into memberships (project_id, user_id, role) select $2, id, case when $1 like 'marit%' then 'ADMIN' else 'MEMBER' end from known`,
        [colleague, projectId],
      );
    const workflow = await aWorkflow(call, sender, seeded.template);
    const newcomers = await store.db.rows<{ id: string }>(
      'select id from contacts where project_id = $1 and subscribed order by created_at desc limit 48',
      [projectId],
    );
    let execution = '';
    for (const { id } of newcomers)
      execution = (await call('POST', `/workflows/${workflow}/executions`, { contactId: id })).id;
    await store.db.count(`update campaigns set name = 'Winter count: sign up now' where id = $1`, [seeded.campaign]);
    await foldsDone(store.db.row.bind(store.db), projectId);
    return { login, seeded: { ...seeded, ...shown, workflow, execution, endpoint: endpoint.id } };
  } finally {
    await store.close();
  }
}

/** Where somebody takes webhooks as long as this process lives, and is out of order now and then. */
async function shopPort(): Promise<number> {
  let calls = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(++calls % 9 === 0 ? 503 : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return (server.address() as AddressInfo).port;
}

/** A workflow with a condition, whose two ways meet again. */
async function aWorkflow(
  // biome-ignore lint/suspicious/noExplicitAny: a script names what it expects of an answer.
  call: (method: string, path: string, body?: unknown) => Promise<any>,
  from: string,
  templateId: string,
): Promise<string> {
  const { id } = await call('POST', '/workflows', { name: 'Welcome at the coast', eventName: 'member.joined' });
  const { steps } = await call('GET', `/workflows/${id}`);
  const welcome = await call('POST', '/templates', {
    name: 'Welcome at the coast',
    subject: 'Welcome, {{firstName}}',
    body: '<p>Good to have you with us.</p>',
    from,
  });
  const step = async (type: string, name: string, x: number, y: number, config: object, more: object = {}) =>
    (
      await call('POST', `/workflows/${id}/steps`, {
        type,
        name,
        config,
        position: { x, y },
        autoConnect: false,
        ...more,
      })
    ).id;
  const connect = (fromStepId: string, toStepId: string, more: object = {}) =>
    call('POST', `/workflows/${id}/transitions`, { fromStepId, toStepId, ...more });
  const trigger = steps[0].id;
  const hello = await step('SEND_EMAIL', 'Say hello', 100, 260, {}, { templateId: welcome.id });
  const plan = await step('CONDITION', 'Patron or family?', 100, 420, {
    field: 'data.plan',
    operator: 'equals',
    value: 'patron',
  });
  const boat = await step('SEND_EMAIL', 'Invite to the boat', -120, 580, {}, { templateId });
  const wait = await step('WAIT_FOR_EVENT', 'Books a walk', 320, 580, { eventName: 'walk.booked', timeout: 1_209_600 });
  const settle = await step('DELAY', 'Two quiet weeks', 100, 780, { amount: 14, unit: 'days' });
  const end = await step('EXIT', 'Welcomed', 100, 940, {});
  await connect(trigger, hello);
  await connect(hello, plan);
  await connect(plan, boat, { branch: 'yes' });
  await connect(plan, wait, { branch: 'no' });
  await connect(boat, settle);
  await connect(wait, settle, { waitOutcome: 'EVENT' });
  await connect(wait, end, { waitOutcome: 'TIMEOUT' });
  await connect(settle, end);
  await call('PATCH', `/workflows/${id}`, { enabled: true });
  return id;
}

/** Workers count what was written past them within a minute or two. */
async function foldsDone(
  row: (text: string, values: unknown[]) => Promise<{ n: number } | null>,
  projectId: string,
): Promise<void> {
  const giveUpAt = Date.now() + 180_000;
  const countOf = async (text: string) => (await row(text, [projectId]))?.n ?? 0;
  for (const table of ['contact_changes', 'mail_count_changes'])
    await waitUntil(async () => (await countOf(`select count(*)::int as n from ${table} where project_id = $1`)) === 0);
  await waitUntil(
    async () =>
      (await countOf(
        `select (counted_through > now() - interval '5 minutes')::int as n from event_counts_state where $1 <> ''`,
      )) === 1,
  );

  async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) {
      if (Date.now() > giveUpAt) throw new Error('What was written is not counted');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}
