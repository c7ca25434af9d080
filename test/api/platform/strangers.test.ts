import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createTransport } from 'nodemailer';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { advance } from '../../../src/automations/runtime/advance.ts';
import { removeEarlierDays } from '../../../src/billing/daily-queries.ts';
import { reserveReceivedMail } from '../../../src/billing/service.ts';
import { expandPage, loadExpansion } from '../../../src/campaigns/audience/expansion.ts';
import { openSend } from '../../../src/campaigns/state.ts';
import { readConfig } from '../../../src/lib/config/config.ts';
import { composeQueued, createComposer } from '../../../src/mail/engine/compose.ts';
import { deliverPending } from '../../../src/mail/queue/deliver.ts';
import { startSmtp } from '../../../src/main/smtp/smtp-runtime.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { advanceDeps, anAutomation, aTemplate, letIn, runOf } from '../../support/automation-fixtures.ts';
import { aCampaign, contacts } from '../../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aContact, deliveryDeps } from '../../support/delivery-fixtures.ts';
import { lettersTo, tokenOf } from '../../support/letters.ts';
import { FakeMailer } from '../../support/mailer.ts';
import { aPerson, cookieOf, joins, type Person } from '../../support/people.ts';

// A provider whose mail leaves; nothing is delivered here, for there is no worker.
const real = { MAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://mail.provider.example', REQUIRE_EMAIL_VERIFICATION: 'false' };
const five = { PUBLIC_PROJECT_DAILY_EMAILS: '5' };

let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { ...real, ...five }, { mailer: new FakeMailer() });
});
afterAll(async () => {
  await api.close();
  await database.close();
});
beforeEach(async () => {
  project = await aStrangersProject();
});

async function aStrangersProject(): Promise<TestProject> {
  const made = await aProject(database);
  await database.db.count('update projects set trusted = false where id = $1', [made.id]);
  return made;
}
const operator = async (...args: string[]) => {
  const env = { ...process.env, DATABASE_URL: database.url };
  return (await promisify(execFile)(process.execPath, ['src/main/project.ts', ...args], { env })).stdout;
};
const call = (method: string, path: string, body?: object, owner = project, through = api) =>
  through.call(owner.secretKey, method, path, body);
const mail = (to: unknown, owner = project) => ({ to, from: owner.sender, subject: 'Heron', body: 'Look up.' });
const send = (to: unknown, owner = project, through = api) => call('POST', '/v1/send', mail(to, owner), owner, through);
const many = (count: number, at = 'example.com') => Array.from({ length: count }, (_, n) => `reader-${n}@${at}`);
const mailOf = async (owner = project) =>
  (
    await database.db.row<{ count: number }>(
      `select count(*)::int as count from emails where project_id = $1 and status = 'PENDING'`,
      [owner.id],
    )
  )?.count;
const limitOf = (usage: number, category = 'TRANSACTIONAL') => ({
  code: 'BILLING_LIMIT_EXCEEDED',
  details: { category, usage, limit: 5, period: 'day' },
});

describe('whose project is trusted', () => {
  const post = (path: string, body: object, headers = {}, through = api) =>
    through.call(null, 'POST', path, body, headers);
  const trustOf = async (person: Pick<Person, 'session'>) => {
    const { status, body } = await post('/users/@me/projects', { name: 'Reeds' }, person.session);
    expect(status).toBe(201);
    return (await database.db.row<{ trusted: boolean }>('select trusted from projects where id = $1', [body.id]))
      ?.trusted;
  };

  test.each([
    ['where mail reaches people', real, false],
    ['with the sandbox', { MAIL_PROVIDER: 'sandbox' }, true],
    [
      'with a provider on this machine',
      { MAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:25', REQUIRE_EMAIL_VERIFICATION: 'false' },
      true,
    ],
  ])('somebody who signs up %s', async (_, settings, trusted) => {
    await using own = await testApi(database, settings);
    const credentials = {
      email: `${Math.random().toString(36).slice(2)}@reeds.example`,
      password: 'correct horse battery',
    };
    const signedUp = await post('/auth/signup', credentials, {}, own);
    expect(signedUp.status).toBe(200);
    expect(await trustOf({ session: cookieOf(signedUp.headers) ?? {} })).toBe(trusted);
  });

  test('somebody whom a trusted project invited is trusted, and somebody whom a stranger invited is not', async () => {
    const trusted = await aProject(database);
    for (const [inviting, expected] of [
      [trusted, true],
      [project, false],
    ] as const) {
      const admin = await aPerson(database.db, api.config);
      await joins(database.db, inviting.id, admin, 'ADMIN');
      const email = `nora-${inviting.id.slice(-6)}@harbourmail.test`;
      await post(`/projects/${inviting.id}/invitations`, { email, role: 'MEMBER' }, admin.session);
      const token = tokenOf((await lettersTo(database.db, api.config, email)).at(-1) as never);
      const joined = await post('/invitations/sign-up', { token, password: 'correct horse battery' });
      expect(await trustOf({ session: cookieOf(joined.headers) ?? {} })).toBe(expected);
    }
  });

  test('somebody who signed up by themselves is trusted once an operator has approved a project of theirs', async () => {
    const stranger = await aPerson(database.db, api.config, { selfRegistered: true });
    expect(await trustOf(stranger)).toBe(false);
    await joins(database.db, project.id, stranger, 'OWNER');
    expect(await trustOf(stranger)).toBe(false);
    await operator('approve', project.id);
    expect(await trustOf(stranger)).toBe(true);
  });

  test('accounts and projects that exist when the columns come are trusted', async () => {
    const defaults = await database.db.rows(
      `select table_name, column_name, column_default from information_schema.columns
       where (table_name, column_name) in (('users', 'self_registered'), ('projects', 'trusted'), ('domains', 'approved'))
       order by table_name`,
    );
    expect(defaults).toEqual([
      { table_name: 'domains', column_name: 'approved', column_default: 'true' },
      { table_name: 'projects', column_name: 'trusted', column_default: 'true' },
      { table_name: 'users', column_name: 'self_registered', column_default: 'false' },
    ]);
  });
});

describe('domains wait for the operator', () => {
  /** A domain as the API adds it, with its records set. */
  async function aDomain(owner = project): Promise<{ id: string; domain: string; sender: string }> {
    const name = `reeds-${Math.random().toString(36).slice(2)}.example`;
    const { status, body } = await call('POST', '/domains', { domain: name }, owner);
    expect(status).toBe(201);
    await database.db.count(`update domains set verified = true, status = 'Success' where id = $1`, [body.id]);
    await api.app.directory.forgetEverywhere(owner.id);
    return { id: body.id, domain: name, sender: `hello@${name}` };
  }
  const waits = (domain: string) => ({
    code: 'FORBIDDEN',
    details: { reason: 'operator_approval', domain },
  });
  const approvedOf = async (id: string) =>
    (await call('GET', `/domains/project/${project.id}`)).body.find((each: { id: string }) => each.id === id).approved;

  test('a verified one cannot send by any path until the operator approves it', async () => {
    const { id, domain, sender } = await aDomain();
    expect(await approvedOf(id)).toBe(false);
    const content = { name: 'n', subject: 's', body: '<p>b</p>', from: sender };
    const refused = [
      await call('POST', '/v1/send', { ...mail('a@example.com'), from: sender }),
      await call('POST', '/templates', content),
      await call('POST', '/campaigns', { ...content, audienceType: 'ALL' }),
    ];
    for (const { status, body } of refused)
      expect([status, body.error]).toEqual([403, expect.objectContaining(waits(domain))]);
    const batch = await call('POST', '/v1/emails/batch', { emails: [{ ...mail('a@example.com'), from: sender }] });
    expect(JSON.stringify(batch.body)).toContain('operator_approval');
    // Content that was saved before the domain was removed and added again.
    const template = await aTemplate(database.db, { ...project, sender });
    const campaign = await aCampaign(database.db, { ...project, sender }, { type: 'TRANSACTIONAL' });
    await contacts(database.db, project.id, 1);
    for (const [path, body] of [
      ['/v1/send', { to: 'a@example.com', template }],
      [`/campaigns/${campaign}/send`, {}],
      [`/campaigns/${campaign}/dry-run`, {}],
    ] as const) {
      const answer = await call('POST', path, body);
      expect([path, answer.status, answer.body.error]).toEqual([path, 403, expect.objectContaining(waits(domain))]);
    }
    expect(await mailOf()).toBe(0);

    expect(await operator('approve', project.id, domain)).toContain(`${domain} may send`);
    await expect
      .poll(async () => (await call('POST', '/v1/send', { ...mail('a@example.com'), from: sender })).status)
      .toBe(200);
    expect(await approvedOf(id)).toBe(true);
    // One domain was approved, and not the project.
    expect((await call('POST', '/domains', { domain: `other-${domain}` })).body.approved).toBe(false);
    expect((await send(many(5))).status).toBe(402);
  });

  test('approving the project approves its domains, those of later too, and ends the daily limit', async () => {
    const { sender, domain } = await aDomain();
    expect(await operator('waiting')).toContain(domain);
    expect(await operator('approve', project.id)).toContain('is approved');
    expect(JSON.parse(await operator('waiting'))).not.toContainEqual(expect.objectContaining({ id: project.id }));
    await expect
      .poll(async () => (await call('POST', '/v1/send', { ...mail(many(6)), from: sender })).status)
      .toBe(200);
    expect((await call('POST', '/domains', { domain: `later-${domain}` })).body.approved).toBe(true);
  });

  test('those of other tenants are not approved along with it', async () => {
    const other = await aStrangersProject();
    const [own, foreign] = [await aDomain(), await aDomain(other)];
    await expect(operator('approve', project.id, foreign.domain)).rejects.toThrow('has no domain');
    await operator('approve', project.id);
    const rows = await database.db.rows('select id, approved from domains where id = any($1) order by approved', [
      [own.id, foreign.id],
    ]);
    expect(rows).toEqual([
      { id: foreign.id, approved: false },
      { id: own.id, approved: true },
    ]);
  });

  test.each([
    ['with the sandbox', { MAIL_PROVIDER: 'sandbox' }],
    ['where the setting is off', { ...real, PUBLIC_DOMAINS_NEED_APPROVAL: 'false' }],
  ])('but not %s, nor for a trusted project', async (_, settings) => {
    await using own = await testApi(database, settings);
    const add = (owner: TestProject, through: TestApi) =>
      through.call(owner.secretKey, 'POST', '/domains', { domain: `${Math.random().toString(36).slice(2)}.example` });
    const trusted = await add(await aProject(database), api);
    expect(trusted.body.approved).toBe(true);
    if (own.config.mailProvider === 'smtp') expect((await add(project, own)).body.approved).toBe(true);
    expect(own.config.holdsPublicDomains).toBe(false);
  });

  test('mail in the queue does not leave from a domain that has no approval any more', async () => {
    const { id, domain, sender } = await aDomain();
    await operator('approve', project.id, domain);
    const ask = () => call('POST', '/v1/send', { ...mail('a@example.com'), from: sender });
    await expect.poll(async () => (await ask()).status).toBe(200);
    await database.db.count('update domains set approved = false where id = $1', [id]);
    const mailer = new FakeMailer({ name: 'strangers' });
    const run = { projectId: project.id, prefix: 'strangers/1/', attempt: 1, stop: new AbortController().signal };
    const composer = createComposer(api.config, { warn: () => undefined });
    const deps = deliveryDeps(database.db, mailer, { compose: (each) => composeQueued(composer, each) });
    await deliverPending(deps, run, { claims: 1, lingerMs: 0, longestMs: 600_000 });
    expect(mailer.sent).toEqual([]);
    expect(await database.db.rows('select status, reason from emails where project_id = $1', [project.id])).toEqual([
      { status: 'FAILED', reason: { code: 'domain_unverified' } },
    ]);
  });
});

describe('five emails a day', () => {
  test('fifty requests at once through two processes let exactly five through', async () => {
    await using second = await testApi(database, { ...real, ...five });
    const answers = await Promise.all(many(50).map((to, n) => send(to, project, n % 2 === 0 ? api : second)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    const refused = answers.filter(({ status }) => status === 402);
    expect(refused).toHaveLength(45);
    expect(refused[0]?.body.error).toMatchObject(limitOf(5));
    expect(await mailOf()).toBe(5);
  });

  test('a request of several recipients is never split, and one that fits passes', async () => {
    expect((await send(many(6))).body.error).toMatchObject(limitOf(0));
    expect((await send(many(4))).status).toBe(200);
    expect((await send(many(2))).body.error).toMatchObject(limitOf(4));
    expect((await send('last@example.com')).status).toBe(200);
    expect(await mailOf()).toBe(5);
  });

  test('each item of a batch is let in or refused, and with the mode `all` the batch as a whole', async () => {
    const emails = many(6).map((to) => mail(to));
    const whole = await call('POST', '/v1/emails/batch', { emails, mode: 'all' });
    expect([whole.status, whole.body.error]).toEqual([
      402,
      expect.objectContaining({ code: 'BILLING_LIMIT_EXCEEDED' }),
    ]);
    expect(await mailOf()).toBe(0);
    await call('POST', '/v1/emails/batch', { emails, mode: 'each' });
    expect(await mailOf()).toBe(5);
  });

  test('scheduled mail counts on the day it is accepted', async () => {
    const scheduledFor = new Date(Date.now() + 3 * 86_400_000).toISOString();
    expect((await call('POST', '/v1/send', { ...mail(many(5)), scheduledFor })).status).toBe(200);
    expect((await call('POST', '/v1/send', { ...mail('a@example.com'), scheduledFor })).status).toBe(402);
  });

  test('by SMTP the client is told to try again later', async () => {
    const config = readConfig({
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: api.config.TEMPORAL_ADDRESS ?? '',
      RATE_LIMIT_PER_MINUTE: '0',
      ...real,
      ...five,
    });
    const smtp = await startSmtp({ ...config, SMTP_IN_PORT: 0 }, pino({ level: 'silent' }), { wake: () => undefined });
    try {
      const auth = { user: 'fernpost', pass: project.secretKey };
      const transport = createTransport({ host: '127.0.0.1', port: smtp.ports.plain ?? 0, ignoreTLS: true, auth });
      const letter = (to: string[]) =>
        transport.sendMail({ from: project.sender, to, subject: 'Heron', text: 'Look up.' });
      await letter(many(5));
      await expect(letter(['last@example.com'])).rejects.toMatchObject({ responseCode: 452 });
      transport.close();
    } finally {
      await smtp.close();
    }
    expect(await mailOf()).toBe(5);
  });

  test('a campaign that is too large is refused, and its expansion stops at the limit', async () => {
    await contacts(database.db, project.id, 7);
    const campaign = await aCampaign(database.db, project);
    const refused = await call('POST', `/campaigns/${campaign}/send`, {});
    expect([refused.status, refused.body.error]).toEqual([402, expect.objectContaining(limitOf(0, 'CAMPAIGN'))]);
    // Mail of other sources may take the quota between the send and the expansion.
    await openSend(database.db, campaign, 7, null);
    await send(many(2));
    const expansion = await loadExpansion(database.db, campaign, 1);
    if (expansion === null) throw new Error('The send is gone');
    await expandPage(database.db, api.config, expansion, null, { size: 100 });
    const states = await database.db.rows(
      `select status, reason ->> 'code' as code, count(*)::int as count from emails where campaign_id = $1 group by 1, 2 order by 1`,
      [campaign],
    );
    expect(states).toEqual([
      { status: 'FAILED', code: 'limit_reached', count: 4 },
      { status: 'PENDING', code: null, count: 3 },
    ]);
    expect((await send('last@example.com')).status).toBe(402);
  });

  test('a step of a workflow fails beyond it', async () => {
    const contact = await aContact(database.db, project.id, 'ingrid.dahl@example.com');
    const template = await aTemplate(database.db, project);
    const automation = await anAutomation(database.db, project.id, {
      steps: { first: ['SEND_EMAIL', { templateId: template }], second: ['SEND_EMAIL', { templateId: template }] },
    });
    await send(many(4));
    const [run] = await letIn(database.db, automation, [contact], null);
    await advance({ ...advanceDeps(database.db), billing: api.config }, run?.id ?? '', 0);
    expect(await runOf(database.db, automation.id)).toMatchObject({
      status: 'FAILED',
      at: 'second',
      reason: 'Billing limit reached',
    });
    expect(await mailOf()).toBe(5);
  });

  test('tests of templates and campaigns count, and so do resent emails', async () => {
    const owner = await database.db.row<{ email: string }>(
      'select u.email from users u join memberships m on m.user_id = u.id where m.project_id = $1',
      [project.id],
    );
    const template = await aTemplate(database.db, project);
    const campaign = await aCampaign(database.db, project);
    const sent = await send(many(3));
    expect(sent.status).toBe(200);
    for (const path of [`/templates/${template}/test`, `/campaigns/${campaign}/test`])
      expect((await call('POST', path, { email: owner?.email })).status).toBe(200);
    for (const path of [`/templates/${template}/test`, `/campaigns/${campaign}/test`])
      expect((await call('POST', path, { email: owner?.email })).body.error).toMatchObject(limitOf(5));
    const [{ email }] = sent.body.data.emails;
    await database.db.count(`delete from email_queue where email_id = $1`, [email]);
    await database.db.count(`update emails set status = 'FAILED', reason = '{"code": "provider"}' where id = $1`, [
      email,
    ]);
    expect((await call('POST', `/v1/emails/${email}/resend`, {})).body.error).toMatchObject(limitOf(5));
  });

  test('what is refused by the limit of the month takes nothing of the day', async () => {
    await database.db.count('update projects set billing_limit_transactional = 2 where id = $1', [project.id]);
    api.app.directory.forget(project.id);
    const refused = await send(many(3));
    expect(refused.body.error.details).toEqual({ category: 'TRANSACTIONAL', usage: 0, limit: 2 });
    expect((await send(many(2))).status).toBe(200);
    const used = await database.db.row('select accepted from daily_usage where project_id = $1', [project.id]);
    expect(used).toEqual({ accepted: 2 });
  });

  test('the limits of the project show the day, and those of a trusted project do not', async () => {
    await send(many(4));
    const limitsOf = async (owner: TestProject) =>
      (await call('GET', `/users/@me/projects/${owner.id}/billing-limits`, undefined, owner)).body;
    expect((await limitsOf(project)).daily).toEqual({
      limit: 5,
      usage: 4,
      percentage: 80,
      isWarning: true,
      isBlocked: false,
    });
    expect(await limitsOf(await aProject(database))).not.toHaveProperty('daily');
  });

  test('received mail is neither counted nor dropped', async () => {
    await send(many(5));
    expect(await reserveReceivedMail(database.db, api.config, project.id)).toBe(true);
  });

  test('other tenants have a day of their own, and a trusted project has none', async () => {
    const [other, trusted] = [await aStrangersProject(), await aProject(database)];
    expect((await send(many(5))).status).toBe(200);
    expect((await send('a@example.com')).status).toBe(402);
    expect((await send(many(5), other)).status).toBe(200);
    expect((await send(many(6), trusted)).status).toBe(200);
    expect((await send('a@example.com')).status).toBe(402);
  });

  test('the next day has five of its own, and earlier days are removed', async () => {
    await send(many(5));
    await database.db.count('update daily_usage set day = day - 2 where project_id = $1', [project.id]);
    expect((await send(many(5))).status).toBe(200);
    await removeEarlierDays(database.db, 1_000);
    const rows = await database.db.rows('select accepted from daily_usage where project_id = $1', [project.id]);
    expect(rows).toEqual([{ accepted: 5 }]);
  });

  test.each([
    ['with the sandbox', { MAIL_PROVIDER: 'sandbox', ...five }],
    ['where the setting is 0', { ...real, PUBLIC_PROJECT_DAILY_EMAILS: '0' }],
  ])('but not %s', async (_, settings) => {
    await using own = await testApi(database, settings);
    expect((await send(many(9), project, own)).status).toBe(200);
    expect(await database.db.rows('select 1 from daily_usage where project_id = $1', [project.id])).toEqual([]);
  });
});
