import { explain } from '../src/insight/explain/service.ts';
import { startApi } from '../src/main/api/api-runtime.ts';
import type { FirstProjectFacts } from '../src/main/projects/first-project.ts';
import { createLogger } from '../src/main/setup/process.ts';
import type { Database } from '../src/store/sql.ts';
import { audienceSize, fillAudience } from './support/audience.ts';
import { fillDashboardMail } from './support/dashboard-mail.ts';
import { fillDashboardWorkflow } from './support/dashboard-workflow.ts';
import { explaining } from './support/plans.ts';
import { benchWorld } from './support/world.ts';

const asked = 100;

type About = Parameters<typeof explain>[2]['about'];
interface Question {
  contact: string;
  about: About;
}

/**
 * 100 questions of each kind to `POST /explain`, about contacts from all over a large audience. BENCH_CONTACTS makes it smaller, and
 * BENCH_PLANS=1 prints how Postgres finds what the answers say.
 */
export async function benchExplain(): Promise<void> {
  const size = audienceSize();
  await using world = await benchWorld();
  const { config, project, db } = world;
  console.log(`\nExplain: ${size.contacts} contacts, ${size.events} events`);
  await fillAudience(db, project.projectId, size);
  const questions = await fillQuestions(db, project.projectId, size.contacts);
  await using api = await startApi({ ...config, PORT: 0 }, createLogger(config, 'api'));
  for (const [name, ask] of Object.entries(questions)) await show(name, ask, api.url, db, project);
  if (process.env.BENCH_PLANS) await tellPlans(db, project.projectId, questions);
}

/** A campaign that half of the audience got, one that chose by a condition, a workflow, and who is asked about. */
async function fillQuestions(db: Database, projectId: string, contacts: number): Promise<Record<string, Question[]>> {
  const [half, many] = [Math.floor(contacts / 2), Math.floor(contacts / 20)];
  const size = { ledger: half, mails: many, campaigns: 20, loud: Math.min(100_000, many) };
  const { campaign, template, loud } = await fillDashboardMail(db, projectId, size);
  const { workflow } = await fillDashboardWorkflow(db, projectId, template, Math.floor(contacts / 50));
  const chosen = await db.row<{ id: string }>(
    `insert into campaigns (id, project_id, name, subject, body, "from", audience_type, audience_condition, status, send_seq, sent_at)
     values (uuidv7(), $1, 'Chosen', 'Hello', '<p>Hello</p>', 'a@example.com', 'FILTERED', $2, 'SENT', 1, now()) returning id`,
    [projectId, JSON.stringify(condition)],
  );
  await db.count(
    'insert into campaign_sends (campaign_id, send_seq, project_id, expanded, closed) values ($1, 1, $2, true, true)',
    [chosen?.id, projectId],
  );
  const people = await db.rows<{ id: string }>(
    'select id from contacts where project_id = $1 order by md5(id::text) limit $2',
    [projectId, asked],
  );
  const mails = await db.rows<{ id: string; contact: string }>(
    'select id, contact_id as contact from emails where project_id = $1 order by md5(id::text) limit $2',
    [projectId, asked],
  );
  const inside = await db.rows<{ contact: string }>(
    'select contact_id as contact from automation_runs where automation_id = $1 order by md5(id::text) limit $2',
    [workflow, asked],
  );
  const of = (about: About) => people.map(({ id }) => ({ contact: id, about }));
  return {
    'a campaign that half of the audience got': of({ campaignId: campaign }),
    'a campaign with a condition of six filters': of({ campaignId: chosen?.id ?? '' }),
    'a workflow, of contacts inside': inside.map(({ contact }) => ({ contact, about: { workflowId: workflow } })),
    'a workflow, of anybody': of({ workflowId: workflow }),
    'one email': mails.map(({ id, contact }) => ({ contact, about: { emailId: id } })),
    'the latest email': of({ topic: 'any' }),
    'a contact with the longest history': Array.from({ length: asked }, (_, place) => ({
      contact: loud,
      about: place % 2 === 0 ? { campaignId: chosen?.id ?? '' } : { workflowId: workflow },
    })),
  };
}

const condition = {
  logic: 'OR',
  groups: [
    {
      filters: [
        { field: 'data.plan', operator: 'equals', value: 'enterprise' },
        { field: 'data.score', operator: 'greaterThan', value: 990 },
        { field: 'event.login', operator: 'notTriggeredWithin', value: 60, unit: 'days' },
      ],
    },
    {
      filters: [
        { field: 'event.refund', operator: 'triggered' },
        { field: 'event.page.view', operator: 'triggeredWithin', value: 5, unit: 'days' },
        { field: 'email', operator: 'contains', value: '4242' },
      ],
    },
  ],
};

async function show(
  name: string,
  questions: readonly Question[],
  url: string,
  db: Database,
  { secretKey }: FirstProjectFacts,
): Promise<void> {
  const times: number[] = [];
  const verdicts = new Map<string, number>();
  for (const question of questions) {
    // A project gets 60 explanations a minute.
    await db.count(`delete from attempt_windows where scope = 'explain'`);
    const began = performance.now();
    const answer = await fetch(`${url}/explain`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(question),
    });
    const body = (await answer.json()) as { verdict?: string };
    times.push(performance.now() - began);
    if (body.verdict === undefined) throw new Error(`${answer.status}: ${JSON.stringify(body)}`);
    verdicts.set(body.verdict, (verdicts.get(body.verdict) ?? 0) + 1);
  }
  const said = [...verdicts].map(([verdict, count]) => `${verdict} ${count}`).join(', ');
  console.log(
    `  ${name.padEnd(44)} median ${ms(at(times, 0.5))}   95th ${ms(at(times, 0.95))}   most ${ms(at(times, 1))}   (goal 100 ms at the 95th)   ${said}`,
  );
}

async function tellPlans(db: Database, projectId: string, questions: Record<string, Question[]>): Promise<void> {
  for (const [name, [question]] of Object.entries(questions)) {
    if (question === undefined) continue;
    console.log(`\n-- ${name}`);
    await explain(explaining(db, { answers: true }), projectId, question, 90);
  }
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}

function ms(time: number): string {
  return `${time.toFixed(1)} ms`.padStart(9);
}

if (import.meta.main) await benchExplain();
