import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestProject } from '../support/api.ts';
import { type AutomationHand, automationHand } from '../support/automations.ts';
import { untilShown } from '../support/browser.ts';
import { cli } from '../support/cli.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { add, pick, press, stepOn, type } from '../support/designer.ts';
import { type MovedClock, movedClock, type PassingTime, passingTime } from '../support/moved-clock.ts';
import { aPerson, joins, type Person, sessionOf } from '../support/people.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type TestTemporal, testTemporal } from '../support/worker.ts';
import { webp } from './layout-sheet.ts';

// The journeys of docs/guides/journeys.md over one quarter, with pictures of it for JOURNEY_PICTURES=1. Each test goes on where the one before has ended.
const examples = fileURLToPath(new URL('../../examples/journeys/', import.meta.url));
const pictures = fileURLToPath(new URL('../../docs/guides/pictures/', import.meta.url));
const names = ['onboarding', 'trial-ending', 'win-back'] as const;
type Journey = (typeof names)[number];

const dayMs = 86_400_000;
// Always to come, because executions of Temporal have a clock of their own, which must not be ahead.
const monday = firstMonday(new Date().getUTCFullYear() + 1);
/** An instant of the quarter: day 0 is its first Monday. */
const at = (day: number, time = '09:00') => new Date(monday + day * dayMs + Date.parse(`1970-01-01T${time}Z`));
const date = (day: number) => at(day).toISOString().slice(0, 10);

let world: DashboardWorld;
let project: TestProject;
let person: Person;
let own: AutomationHand;
let clock: MovedClock;
let temporal: TestTemporal;
let time: PassingTime;
let crm: Receiver;
let crmIsDown = false;
/** What the CRM has answered, in the order of its requests. */
const answers: number[] = [];
let folder: string;
const pushed = new Map<Journey, string>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fernpost-journeys-'));
  world = await dashboardWorld({ WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' }, async (database) => {
    clock = await movedClock(database);
    await clock.set(at(0, '07:00'));
  });
  temporal = await testTemporal();
  time = passingTime(world.database, clock, temporal);
  crm = await startReceiver((_, response) => {
    const status = crmIsDown ? 503 : 200;
    answers.push(status);
    response.writeHead(status).end();
  });
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  person = await aPerson(world.database.db, world.api.config);
  await joins(world.database.db, project.id, person, 'OWNER');
  own = automationHand(world.api, project);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await temporal?.[Symbol.asyncDispose]();
  await crm?.[Symbol.asyncDispose]();
  clock?.[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

function firstMonday(year: number): number {
  const first = new Date(Date.UTC(year, 0, 1)).getUTCDay();
  return Date.UTC(year, 0, 1 + ((8 - first) % 7));
}

const { run, json } = cli(() => ({
  XDG_CONFIG_HOME: folder,
  FERNPOST_URL: world.url,
  FERNPOST_KEY: project.secretKey,
}));

test('the files of the guide are pushed: templates by their names, then three workflows that are created', async () => {
  cpSync(examples, folder, { recursive: true });
  const edit = (file: string, from: string, to: string) => {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(from);
    writeFileSync(path, text.replaceAll(from, to));
  };
  edit('templates/fernpost.json', 'hello@fernpost.test', project.sender);
  edit('trial-ending.json', 'https://crm.example.com/', `http://127.0.0.1:${crm.port}/`);
  const missing = await run(['workflows', 'push', join(folder, 'win-back.json')]);
  expect([missing.code, missing.err]).toEqual([
    2,
    expect.stringContaining('No template is named "win-back-reminder", "win-back-offer", "win-back-last"'),
  ]);
  expect(await own.done('GET', '/workflows')).toMatchObject({ data: [] });
  await json(['templates', 'push', join(folder, 'templates')]);
  for (const name of names) {
    const path = join(folder, `${name}.json`);
    const { workflow } = await json(['workflows', 'push', path]);
    pushed.set(name, workflow.id);
    expect(workflow).toMatchObject({ enabled: false, issues: [] });
    if (name === 'win-back') splitStep = workflow.steps.find(({ type }: { type: string }) => type === 'SPLIT').id;
    expect((await run(['workflows', 'push', path])).out).toBe('No changes: nothing was published.\n');
    expect((await run(['workflows', 'plan', path])).out).toBe('No changes.\n');
  }
});

const inDashboard = (work: (page: Page) => Promise<void>) =>
  world.inPage({ locale: 'en-US', timezoneId: 'UTC', viewport: { width: 1280, height: 900 } }, async (page) => {
    // The clock has gone on since the owner signed in.
    await signInAs(page, world.url, await sessionOf(world.api.config, person.id));
    await page.clock.setSystemTime(new Date());
    await work(page);
  });

/** Creates a workflow as the dialog does, and opens the form of its trigger. */
async function begin(page: Page, name: string, event: string): Promise<void> {
  await page.goto(`${world.url}/app/${project.id}/workflows`);
  await page.getByRole('button', { name: 'New workflow' }).first().click();
  await type(page, 'Name', name);
  await type(page, 'Trigger event', event);
  await press(page, 'Create');
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  await stepOn(page, 'Trigger').click();
}
async function setGoal(page: Page, event: string, days: string, then: 'count' | 'exit'): Promise<void> {
  await press(page, 'Add goal');
  await type(page, 'Event of goal', event);
  await type(page, 'Within days', days);
  await pick(page, 'When reached', then);
}
async function setExit(page: Page, event: string, reason: string): Promise<void> {
  await press(page, 'Add exit');
  await type(page, 'Event of exit 1', event);
  await type(page, 'Reason of exit 1', reason);
}
async function saveSettings(page: Page): Promise<void> {
  await press(page, 'Save settings');
  await page.getByText('Settings saved').last().waitFor();
}
async function mail(page: Page, name: string, template: string): Promise<void> {
  await add(page, 'send email', name);
  await page.getByLabel('Template', { exact: true }).selectOption({ label: template });
}
async function select(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Fit View' }).click();
  await stepOn(page, name).click();
  await page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
}
const leadsTo = (page: Page, name: string) =>
  page.getByLabel('Leads to', { exact: true }).selectOption({ label: name });
async function saved(page: Page): Promise<string> {
  await press(page, 'Save');
  await page.getByText('No changes', { exact: true }).waitFor();
  return /workflows\/([\w-]+)/.exec(page.url())?.[1] ?? '';
}

const builders: Record<Journey, (page: Page) => Promise<string>> = {
  async onboarding(page) {
    await begin(page, 'Onboarding by hand', 'signed_up');
    await setGoal(page, 'project.created', '14', 'exit');
    await saveSettings(page);
    await mail(page, 'Welcome', 'onboarding-welcome');
    await add(page, 'delay', 'Two days');
    await type(page, 'Duration', '2');
    await add(page, 'wait until', 'Weekday morning');
    await add(page, 'condition', 'Opened the welcome?');
    await pick(page, 'Type', 'tree');
    const filter = page.getByRole('group', { name: 'Filter 1 of group 1', exact: true });
    await filter.getByLabel('Filter by').selectOption('activity');
    await filter.getByLabel('Email', { exact: true }).selectOption({ label: 'Welcome' });
    await mail(page, 'First project', 'onboarding-first-project');
    await add(page, 'delay', 'A day to try it');
    await add(page, 'wait for event', 'Opens the editor');
    await type(page, 'Event', 'editor.opened');
    await pick(page, 'Events that count', 'entry');
    await page.getByLabel('Set a timeout').check();
    await pick(page, 'Unit', 'days');
    await type(page, 'Timeout', '4');
    await mail(page, 'Almost there', 'onboarding-almost');
    await add(page, 'exit', 'No project yet');
    await type(page, 'Reason', 'no project yet');
    await select(page, 'Opened the welcome?');
    await mail(page, 'Reminder', 'onboarding-reminder');
    await leadsTo(page, 'A day to try it');
    await select(page, 'Opens the editor');
    await mail(page, 'Offer help', 'onboarding-help');
    await leadsTo(page, 'No project yet');
    return saved(page);
  },
  async 'trial-ending'(page) {
    await begin(page, 'Trial ending by hand', 'trial.started');
    await setExit(page, 'subscription.started', 'subscribed');
    await setGoal(page, 'subscription.started', '60', 'count');
    await saveSettings(page);
    await add(page, 'wait until', 'Three days before');
    await pick(page, 'Wait until', 'date');
    await type(page, 'Field', 'data.trialEnds');
    await mail(page, 'Trial ends soon', 'trial-ends-soon');
    await add(page, 'wait until', 'Trial is over');
    await pick(page, 'Wait until', 'date');
    await type(page, 'Field', 'data.trialEnds');
    await type(page, 'Offset', '');
    await add(page, 'webhook', 'Tell the CRM');
    await type(page, 'Address', `http://127.0.0.1:${crm.port}/trials`);
    const body = { email: '{{email}}', plan: '{{data.plan}}', trialEnded: '{{data.trialEnds}}' };
    await type(page, 'Body (JSON)', JSON.stringify(body));
    await page.getByLabel('Fail the run if the request fails').check();
    await mail(page, 'Trial has ended', 'trial-ended');
    await add(page, 'update contact', 'Mark as ended');
    await press(page, 'Add field');
    await type(page, 'Field 1', 'stage');
    await type(page, 'Value of field 1', 'trial ended');
    return saved(page);
  },
  async 'win-back'(page) {
    await begin(page, 'Win-back by hand', 'order.paid');
    await pick(page, 'Trigger', 'DATE');
    await type(page, 'Field', 'data.lastOrderAt');
    await type(page, 'Offset', '60d');
    await type(page, 'At', '10:00');
    await page.getByLabel('Allow re-entry').check();
    await setExit(page, 'order.paid', 'ordered');
    await setGoal(page, 'order.paid', '30', 'count');
    await saveSettings(page);
    await add(page, 'split', 'Which message?');
    await press(page, 'Add branch');
    for (const [n, [name, percent]] of Object.entries([
      ['Reminder', '40'],
      ['Offer', '40'],
      ['No email', '20'],
    ] as const)) {
      await type(page, `Name of branch ${Number(n) + 1}`, name);
      await type(page, `Percent of branch ${Number(n) + 1}`, percent);
    }
    await page.getByLabel('Control group', { exact: true }).selectOption({ label: 'No email' });
    await page.getByText('Adds up to 100%.').waitFor();
    await mail(page, 'We miss you', 'win-back-reminder');
    await add(page, 'delay', 'A week');
    await type(page, 'Duration', '7');
    await mail(page, 'Last message', 'win-back-last');
    await add(page, 'exit', 'Still away');
    await type(page, 'Reason', 'still away');
    await select(page, 'Which message?');
    await mail(page, 'Free shipping', 'win-back-offer');
    await leadsTo(page, 'A week');
    await select(page, 'Which message?');
    await add(page, 'exit', 'Control group');
    await type(page, 'Reason', 'control group');
    return saved(page);
  },
};

/** What a workflow is to its contacts, with steps by their names; a split by the designer has a key of its own. */
async function contentOf(id: string): Promise<{ content: unknown; hash: string }> {
  const { steps, transitions, exits, goal, triggerType, triggerConfig, allowReentry, issues } = await own.done(
    'GET',
    `/workflows/${id}`,
  );
  expect(issues).toEqual([]);
  const nameOf = ({ type, name }: { type: string; name: string }) => (type === 'TRIGGER' ? 'Trigger' : name);
  const known = new Map<string, string>(
    steps.map((step: { id: string; type: string; name: string }) => [step.id, nameOf(step)]),
  );
  let text = JSON.stringify(
    {
      ...{ triggerType, triggerConfig, allowReentry, exits, goal },
      steps: steps
        .map((step: { type: string; name: string; config: { key?: string } }) => {
          const { key: _, ...config } = step.config;
          return { name: nameOf(step), type: step.type, config };
        })
        .toSorted((one: { name: string }, other: { name: string }) => one.name.localeCompare(other.name)),
      transitions: transitions
        .map(
          (way: { fromStepId: string; toStepId: string; branch: string | null; waitOutcome: string | null }) =>
            `${known.get(way.fromStepId)} → ${known.get(way.toStepId)} ${way.branch ?? way.waitOutcome ?? ''}`,
        )
        .toSorted(),
    },
    (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => one.localeCompare(other)))
        : value,
  );
  for (const [step, name] of known) text = text.replaceAll(step, name);
  return { content: JSON.parse(text), hash: createHash('sha256').update(text).digest('hex') };
}

test.each(names)('%s, built by hand in the designer, is the same workflow', async (name) => {
  let byHand = '';
  await inDashboard(async (page) => {
    byHand = await builders[name](page);
  });
  const [made, file] = [await contentOf(byHand), await contentOf(pushed.get(name) ?? '')];
  expect(made.content).toEqual(file.content);
  expect(made.hash).toBe(file.hash);
});

async function track(email: string, event: string, data: object = {}): Promise<void> {
  const body = { email, event, data };
  expect((await world.api.call(project.publicKey, 'POST', '/v1/track', body)).status).toBe(200);
}

interface Letter {
  id: string;
  to: { email: string }[];
  subject: string;
  at: string;
}
/** Everything that has arrived, by recipient; times are cut to half an hour, which what is due may take. */
async function sink(): Promise<Record<string, string[]>> {
  const all: Letter[] = [];
  for (let before = ''; ; before = `&before=${all.at(-1)?.id}`) {
    const answer = await fetch(`${world.sandbox.url}/api/messages?limit=1000${before}`);
    const { messages } = (await answer.json()) as { messages: Letter[] };
    all.push(...messages);
    if (messages.length < 1_000) break;
  }
  const lines = all
    .toReversed()
    .map(({ to, subject, at }) => ({ email: to[0]?.email ?? '', line: `${when(at)}: ${subject}` }));
  return Object.fromEntries(
    [...Map.groupBy(lines, ({ email }) => email)].map(([email, letters]) => [email, letters.map(({ line }) => line)]),
  );
}
/** An instant as the day of the quarter with the hour or the half of it. */
function when(instant: string): string {
  const half = Math.floor((Date.parse(instant) - monday) / 1_800_000);
  const minutes = (half % 48) * 30;
  const clocked = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  return `day ${Math.floor(half / 48)}, ${clocked}`;
}
async function opens(email: string, subject: string): Promise<void> {
  const answer = await fetch(`${world.sandbox.url}/api/messages?to=${encodeURIComponent(email)}`);
  const { messages } = (await answer.json()) as { messages: Letter[] };
  const letter = messages.find((one) => one.subject === subject);
  const { status } = await fetch(`${world.sandbox.url}/api/messages/${letter?.id}/events`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ type: 'open' }),
  });
  expect(status).toBe(200);
}

const ids = new Map<string, string>();
async function contact(name: string, data: object): Promise<string> {
  const email = `${name}@wattenmeer.test`;
  ids.set(email, await own.contact(email, { firstName: `${name[0]?.toUpperCase()}${name.slice(1)}`, ...data }));
  return email;
}

/** Customers: when they enter the win-back, and whether they order again three days and five hours later. */
const shoppers = Array.from({ length: 100 }, (_, n) => ({
  name: `shopper${n}`,
  enters: 30 + (n % 10),
  orders: n % 5 === 0,
}));
const heldOut = new Set<string>();

/** What happens from outside, in the order of time. */
const happenings: [Date, () => Promise<unknown>][] = [
  [
    at(0, '08:00'),
    async () => {
      for (const name of ['alba', 'bodo', 'cleo', 'dora']) await track(await contact(name, {}), 'signed_up');
      for (const { name, enters } of shoppers) await contact(name, { lastOrderAt: date(enters - 60) });
    },
  ],
  [at(0, '12:00'), () => opens('alba@wattenmeer.test', 'Welcome, Alba')],
  [at(0, '13:00'), () => opens('cleo@wattenmeer.test', 'Welcome, Cleo')],
  [at(1, '10:00'), () => track('alba@wattenmeer.test', 'project.created')],
  [at(1, '11:00'), () => track('cleo@wattenmeer.test', 'editor.opened')],
  [
    at(1, '12:00'),
    async () => {
      const trial = { plan: 'team' };
      await track(await contact('gesa', { ...trial, trialEnds: date(15) }), 'trial.started');
      await track(await contact('hugo', { ...trial, trialEnds: date(15) }), 'trial.started');
      await track(await contact('lena', { ...trial, trialEnds: date(29), timezone: 'Europe/Berlin' }), 'trial.started');
      for (const name of ['ida', 'jan', 'kim'])
        await track(await contact(name, { ...trial, trialEnds: date(29) }), 'trial.started');
    },
  ],
  [at(4, '15:00'), () => track('bodo@wattenmeer.test', 'editor.opened')],
  [at(3, '16:00'), async () => track(await contact('emil', { timezone: 'America/New_York' }), 'signed_up')],
  [at(8, '12:00'), () => track('cleo@wattenmeer.test', 'project.created')],
  [
    at(10, '10:00'),
    () => own.done('PATCH', `/contacts/${ids.get('hugo@wattenmeer.test')}`, { data: { trialEnds: date(22) } }),
  ],
  // The clocks of Berlin change on the morning of the reminder.
  [
    at(40, '10:00'),
    async () =>
      track(await contact('paula', { plan: 'solo', trialEnds: date(86), timezone: 'Europe/Berlin' }), 'trial.started'),
  ],
  [at(13, '11:00'), () => track('gesa@wattenmeer.test', 'subscription.started')],
  [
    at(28),
    async () => {
      await own.done('PUT', `/projects/${project.id}/holdout`, { percent: 20, until: at(85).toISOString() });
      for (const [email, id] of ids) if ((await own.done('GET', `/contacts/${id}/holdout`)).heldOut) heldOut.add(email);
    },
  ],
  [
    at(29, '08:30'),
    async () => {
      crmIsDown = true;
    },
  ],
  [
    at(29, '09:30'),
    async () => {
      crmIsDown = false;
      await repair();
    },
  ],
  ...shoppers
    .filter(({ orders }) => orders)
    .map(({ name, enters }): [Date, () => Promise<unknown>] => [
      at(enters + 3, '15:00'),
      async () => {
        const email = `${name}@wattenmeer.test`;
        await track(email, 'order.paid');
        await own.done('PATCH', `/contacts/${ids.get(email)}`, { data: { lastOrderAt: date(enters + 3) } });
      },
    ]),
];

/** What somebody does when the CRM is back: asks who failed there since, and lets those go on at that step. */
async function repair(): Promise<void> {
  const id = pushed.get('trial-ending') ?? '';
  const { steps } = await own.done('GET', `/workflows/${id}`);
  const stepId = steps.find(({ name }: { name: string }) => name === 'Tell the CRM').id;
  const where = { stepId, since: at(29, '08:30').toISOString(), errorContains: '503' };
  const body = { where, from: 'failedStep', version: 'newest' };
  const preview = await own.done('POST', `/workflows/${id}/executions/retry`, { ...body, dryRun: true });
  expect(preview).toMatchObject({ retried: 3, skipped: 0, steps: [{ stepName: 'Tell the CRM', executions: 3 }] });
  await inDashboard(async (page) => {
    await page.goto(`${world.url}/app/${project.id}/workflows/${id}/executions?status=FAILED`);
    const failures = page.getByRole('list', { name: 'Failures' });
    await failures.getByText(/^3 failed at “Tell the CRM” since .*The receiver answered 503/).waitFor();
    await press(page, 'Retry those at Tell the CRM');
    const dialog = page.getByRole('alertdialog');
    await dialog.getByRole('heading', { name: 'Retry 3 runs that failed at Tell the CRM?' }).waitFor();
    await dialog.getByText('3 runs will resume.').waitFor();
    await picture(page, 'journeys-retry');
    await dialog.getByRole('button', { name: 'Leave as they are' }).click();
  });
  expect(await own.done('POST', `/workflows/${id}/executions/retry`, body)).toMatchObject({
    retried: 3,
    skipped: 0,
  });
  expect(await own.done('POST', `/workflows/${id}/executions/retry`, body)).toMatchObject({ retried: 0 });
}

const isHeldOut = (name: string) => heldOut.has(`${name}@wattenmeer.test`);
let splitStep = '';
/** The branch of the win-back that a customer gets, by the hash that the guide describes: of the step and the contact. */
function branchOf(name: string): 'a' | 'b' | 'c' {
  const hash = createHash('sha256').update(`${splitStep}\n${ids.get(`${name}@wattenmeer.test`)}`);
  const place = hash.digest().readUIntBE(0, 6) / 2 ** 48;
  return place < 0.4 ? 'a' : place < 0.8 ? 'b' : 'c';
}

/** What has arrived, by journey and name. */
async function journeyMail(): Promise<Record<Journey, Record<string, string[]>>> {
  const found: Record<Journey, Record<string, string[]>> = { onboarding: {}, 'trial-ending': {}, 'win-back': {} };
  for (const [email, lines] of Object.entries(await sink())) {
    const [name = ''] = email.split('@');
    const journey = name.startsWith('shopper')
      ? 'win-back'
      : ['alba', 'bodo', 'cleo', 'dora', 'emil'].includes(name)
        ? 'onboarding'
        : 'trial-ending';
    found[journey][name] = lines;
  }
  return found;
}

/** How often each path out of each step was taken. */
async function paths(journey: Journey): Promise<Record<string, Record<string, number>>> {
  const { steps } = await own.done('GET', `/workflows/${pushed.get(journey)}/people`);
  return Object.fromEntries(
    steps.map((step: { name: string; branches: { branch: string; count: number }[] }) => [
      step.name,
      Object.fromEntries(step.branches.map(({ branch, count }) => [branch, count])),
    ]),
  );
}

test('a quarter passes: each person gets the mail of their journey at its hour, and no other', async () => {
  for (const id of pushed.values()) await own.enable(id);
  for (const [instant, happens] of happenings.toSorted(([one], [other]) => one.getTime() - other.getTime())) {
    await time.until(instant);
    await happens();
    await time.settled();
  }
  await time.until(at(91));
  const { 'win-back': back, ...others } = await journeyMail();
  expect(others).toEqual({
    onboarding: {
      alba: ['day 0, 08:00: Welcome, Alba'],
      bodo: ['day 0, 08:00: Welcome, Bodo', 'day 2, 09:00: Your account is waiting', 'day 4, 15:00: Almost there'],
      cleo: [
        'day 0, 08:00: Welcome, Cleo',
        'day 2, 09:00: Your first project in two minutes',
        'day 3, 09:00: Almost there',
      ],
      dora: ['day 0, 08:00: Welcome, Dora', 'day 2, 09:00: Your account is waiting', 'day 7, 09:00: Can we help?'],
      // Nine o'clock in New York, after a weekend.
      emil: ['day 3, 16:00: Welcome, Emil', 'day 7, 14:00: Your account is waiting', 'day 12, 14:00: Can we help?'],
    },
    'trial-ending': {
      gesa: [`day 12, 09:00: Your trial ends on ${date(15)}`],
      hugo: [`day 19, 09:00: Your trial ends on ${date(22)}`, 'day 22, 09:00: Your trial has ended'],
      lena: [`day 26, 08:00: Your trial ends on ${date(29)}`, 'day 29, 08:00: Your trial has ended'],
      ida: [`day 26, 09:00: Your trial ends on ${date(29)}`, 'day 29, 09:30: Your trial has ended'],
      jan: [`day 26, 09:00: Your trial ends on ${date(29)}`, 'day 29, 09:30: Your trial has ended'],
      kim: [`day 26, 09:00: Your trial ends on ${date(29)}`, 'day 29, 09:30: Your trial has ended'],
      paula: [`day 83, 07:00: Your trial ends on ${date(86)}`, 'day 86, 07:00: Your trial has ended'],
    },
  });
  expect([...heldOut].filter((email) => email.startsWith('shopper')).length).toBeGreaterThan(0);
  expect(back).toEqual(
    Object.fromEntries(
      shoppers.flatMap(({ name, enters, orders }) => {
        const branch = branchOf(name);
        if (branch === 'c' || isHeldOut(name)) return [];
        const [initial = '', ...rest] = name;
        const first =
          branch === 'a'
            ? `We miss you, ${initial.toUpperCase()}${rest.join('')}`
            : 'Free shipping for your next order';
        const last = orders ? [] : [`day ${enters + 7}, 10:00: Shall we keep in touch?`];
        return [[name, [`day ${enters}, 10:00: ${first}`, ...last]]];
      }),
    ),
  );
});

test('the CRM has heard of each trial that ended once, although it was away for an hour', () => {
  const told = crm.requests.map(({ body }, n) => ({ who: JSON.parse(body).email.split('@')[0], status: answers[n] }));
  const of = (status: number) =>
    told
      .filter((one) => one.status === status)
      .map(({ who }) => who)
      .toSorted();
  expect(of(503)).toEqual(['ida', 'jan', 'kim']);
  expect(of(200)).toEqual(['hugo', 'ida', 'jan', 'kim', 'lena', 'paula']);
});

const goalOf = (journey: Journey) => own.done('GET', `/workflows/${pushed.get(journey)}/goal?by=branch`);
const secondsOf = (days: number, hours: number) => (days * 24 + hours) * 3_600;

test('goals, paths and branches add up to what happened', async () => {
  const onboarding = await goalOf('onboarding');
  expect(onboarding).toMatchObject({ entered: 5, met: 2, open: 0, metOnEntry: 0, rate: 40 });
  // The middle of 26 hours and eight days and four hours.
  expect(Math.abs(onboarding.medianSeconds - secondsOf(4, 15))).toBeLessThan(1_800);
  expect(await goalOf('trial-ending')).toMatchObject({ entered: 7, met: 1, open: 1 });
  const back = await goalOf('win-back');
  const expected = ['a', 'b', 'c'].map((branch) => {
    const inside = shoppers.filter(({ name }) => branchOf(name) === branch);
    return { branch, entered: inside.length, met: inside.filter(({ orders }) => orders).length };
  });
  expect(back).toMatchObject({ entered: 100, met: 20, open: 0, groups: expected.filter(({ entered }) => entered > 0) });

  expect(await paths('onboarding')).toEqual({
    'Trigger: signed_up': { next: 5 },
    Welcome: { next: 5 },
    'Two days': { next: 4, 'exit:goal': 1 },
    'Weekday morning': { next: 4 },
    'Opened the welcome?': { yes: 1, no: 3 },
    'First project': { next: 1 },
    Reminder: { next: 3 },
    'A day to try it': { next: 4 },
    'Opens the editor': { EVENT: 2, TIMEOUT: 2 },
    'Almost there': { next: 2 },
    'Offer help': { next: 2 },
    'No project yet': { next: 4 },
  });
  expect(await paths('trial-ending')).toMatchObject({
    'Three days before': { next: 7 },
    'Trial is over': { next: 6, 'exit:exit-1': 1 },
    'Tell the CRM': { success: 6 },
    'Trial has ended': { next: 6 },
    'Mark as ended': { next: 6 },
  });
  const [a = 0, b = 0, c = 0] = expected.map(({ entered }) => entered);
  const ordered = shoppers.filter(({ name, orders }) => orders && branchOf(name) !== 'c').length;
  expect(await paths('win-back')).toEqual({
    'Trigger: date': { next: 100 },
    'Which message?': Object.fromEntries(Object.entries({ a, b, c }).filter(([, count]) => count > 0)),
    'We miss you': { next: a },
    'Free shipping': { next: b },
    'Control group': { next: c },
    'A week': { next: a + b - ordered, 'exit:exit-1': ordered },
    'Last message': { next: a + b - ordered },
    'Still away': { next: a + b - ordered },
  });
});

/** What is said of somebody in a journey: the answer, then each decision. */
async function explained(name: string, journey: Journey): Promise<{ lines: string[]; permalink: string }> {
  const about = { workflowId: pushed.get(journey) };
  const answer = await own.done('POST', '/explain', { contact: `${name}@wattenmeer.test`, about });
  const { verdict, sentence, decisions, permalink } = answer;
  const lines = [`${verdict}: ${sentence}`, ...decisions.map((one: { sentence: string }) => one.sentence)];
  const dated = /[A-Z][a-z]{2} \d+, \d{4}, \d+:\d\d [AP]M UTC/g;
  return { lines: lines.map((line) => line.replaceAll(dated, (instant: string) => when(instant))), permalink };
}

test('three people are explained in words and times, as “Why?” in the dashboard does', async () => {
  const cleo = await explained('cleo', 'onboarding');
  const mailed = (name: string, time: string) => [
    `The email to ${name}@wattenmeer.test was accepted on ${time}.`,
    `It was handed to sandbox on ${time}.`,
    `The mailbox accepted it on ${time}.`,
  ];
  expect(cleo.lines).toEqual([
    'received: The email to cleo@wattenmeer.test was delivered on day 3, 09:00.',
    'The contact\'s event "signed_up" came on day 0, 08:00.',
    'The contact entered version 1 of "Onboarding" on day 0, 08:00.',
    'Step "Trigger: signed_up" was completed.',
    'Step "Welcome" was completed.',
    ...mailed('cleo', 'day 0, 08:00'),
    'It was first opened on day 0, 13:00.',
    'Step "Two days" was completed.',
    'Step "Weekday morning" waited until day 2, 09:00, by the time zone UTC.',
    'Step "Opened the welcome?" took the branch "yes".',
    'Step "First project" was completed.',
    ...mailed('cleo', 'day 2, 09:00'),
    'Step "A day to try it" was completed.',
    'Step "Opens the editor" was completed and took the path "EVENT".',
    'Step "Almost there" was completed.',
    ...mailed('cleo', 'day 3, 09:00'),
    'Step "No project yet" was completed.',
    'The contact reached the goal of the workflow on day 8, 12:00.',
  ]);
  const ida = await explained('ida', 'trial-ending');
  expect(ida.lines).toEqual([
    'received: The email to ida@wattenmeer.test was delivered on day 29, 09:30.',
    'The contact\'s event "trial.started" came on day 1, 12:00.',
    'The contact entered version 1 of "Trial ending" on day 1, 12:00.',
    'Step "Trigger: trial.started" was completed.',
    'Step "Three days before" waited until day 26, 09:00, by the time zone UTC.',
    'Step "Trial ends soon" was completed.',
    ...mailed('ida', 'day 26, 09:00'),
    'Step "Trial is over" waited until day 29, 09:00, by the time zone UTC.',
    'Step "Tell the CRM" failed: The receiver answered 503. The run was retried.',
    'Step "Tell the CRM" was completed and took the path "success".',
    'Step "Trial has ended" was completed.',
    ...mailed('ida', 'day 29, 09:30'),
    'Step "Mark as ended" was completed.',
    'The contact did not reach the goal of the workflow, which counts until day 61, 12:00.',
  ]);
  const gesa = await explained('gesa', 'trial-ending');
  expect(gesa.lines.slice(-2)).toEqual([
    'Step "Trial is over" ended early. The contact left the workflow: subscribed.',
    'The contact reached the goal of the workflow on day 13, 11:00.',
  ]);
  const held = shoppers.find(({ name, orders }) => isHeldOut(name) && !orders && branchOf(name) !== 'c');
  const { name = '', enters = 0 } = held ?? {};
  const shopper = await explained(name, 'win-back');
  const withheld = (day: number) => [
    `The email to ${name}@wattenmeer.test was requested on day ${day}, 10:00.`,
    'The contact was in the control group (holdout), which gets no marketing email.',
  ];
  expect(shopper.lines).toEqual([
    'did_not: The contact was in the control group (holdout), which gets no marketing email.',
    `The date ${date(enters - 60)} in the field "data.lastOrderAt" of the contact started the run.`,
    `The contact entered version 1 of "Win-back" on day ${enters}, 10:00.`,
    'Step "Trigger: date" was completed.',
    `Step "Which message?" assigned the contact to the branch "${branchOf(name)}" with 40% of contacts.`,
    `Step "${branchOf(name) === 'a' ? 'We miss you' : 'Free shipping'}" was completed.`,
    ...withheld(enters),
    'Step "A week" was completed.',
    'Step "Last message" was completed.',
    ...withheld(enters + 7),
    'Step "Still away" was completed.',
    `The contact did not reach the goal of the workflow, which counts until day ${enters + 30}, 10:00.`,
  ]);
  await inDashboard(async (page) => {
    for (const { lines, permalink } of [cleo, ida, shopper]) {
      await page.goto(`${world.url}/app/${project.id}/why/${permalink}`);
      await page.getByRole('heading', { name: 'Why?', level: 1 }).waitFor();
      const shown = page.getByRole('list', { name: 'Decisions' }).getByRole('listitem');
      await expect.poll(() => shown.count()).toBe(lines.length - 1);
      await page.getByRole('button', { name: 'Open run', exact: true }).first().waitFor();
      if (permalink === ida.permalink) await picture(page, 'journeys-why');
    }
    const reminded = shoppers.filter(({ name }) => branchOf(name) === 'a').length;
    // Who has left by the goal or an exit has not gone on.
    const shown = { onboarding: '4 · 80%', 'trial-ending': '6 · 86%', 'win-back': `Reminder 40% · ${reminded}` };
    for (const journey of names) {
      await page.setViewportSize({
        width: 1280,
        height: { onboarding: 1900, 'trial-ending': 1350, 'win-back': 1150 }[journey],
      });
      await page.goto(`${world.url}/app/${project.id}/workflows/${pushed.get(journey)}`);
      await page.getByText(shown[journey]).first().waitFor();
      await press(page, 'Side panel');
      await page.getByRole('button', { name: 'Fit View' }).click();
      await picture(page, `journeys-${journey}`);
    }
  });
});

/** Takes a picture for the guide, where JOURNEY_PICTURES asks for it. */
async function picture(page: Page, name: string): Promise<void> {
  if (process.env.JOURNEY_PICTURES !== '1') return;
  await untilShown(page);
  await page.evaluate('document.activeElement?.blur?.()');
  mkdirSync(pictures, { recursive: true });
  writeFileSync(join(pictures, `${name}.webp`), await webp(page, 82));
}
