import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { recordingEvents } from '../../src/store/record-events.ts';
import { sql } from '../../src/store/sql.ts';
import { aProject, type TestApi, testApi } from '../support/api.ts';
import { automationHand } from '../support/automations.ts';
import { contacts } from '../support/campaign-fixtures.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
});

/** A process that enrolls, and what it says: where it stopped, or that nothing is pending. */
function enroller(...stop: [stopAt: string, turn: number] | []) {
  const child = fork(
    fileURLToPath(new URL('../support/enroller-child.ts', import.meta.url)),
    [database.url, ...stop.map(String)],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  const exited = once(child, 'exit');
  return {
    says: once(child, 'message').then(([message]) => message as string),
    async kill() {
      child.kill('SIGKILL');
      expect((await exited)[1]).toBe('SIGKILL');
    },
  };
}

test('of 10,000 who enter while processes that enroll are killed, exactly those whose hash is below the share get the new version, once each', async () => {
  const { db } = database;
  const project = await aProject(database);
  const own = automationHand(api, project);
  await contacts(db, project.id, 10_000);
  const { id } = await own.automation();
  const wait = await own.step(id, 'DELAY', { amount: 30, unit: 'days' });
  await own.enable(id);
  const { steps, transitions } = await own.done('GET', `/workflows/${id}`);
  const config = { amount: 60, unit: 'days' };
  const { workflow } = await own.done('PUT', `/workflows/${id}/graph`, {
    steps: steps.map((step: { id: string }) => (step.id === wait ? { ...step, config } : step)),
    transitions,
    rollout: { percent: 7.31, stopIf: {} },
  });
  const rows = await db.rows<{ id: string }>(sql`select id from contacts where project_id = ${project.id} order by id`);
  const people = rows.map((row) => row.id);
  for (let from = 0; from < people.length; from += 1_000) {
    const page = people.slice(from, from + 1_000);
    const events = page.map((contactId) => {
      return { id: newId(), projectId: project.id, contactId, name: 'user.signup', data: null };
    });
    await db.count(recordingEvents({ events }));
  }
  const count = () => db.row(sql`select count(*)::int as runs from automation_runs where automation_id = ${id}`);

  // Two at a time, of which one goes on while the other is killed with its transaction open, or with its commit unanswered.
  for (const [stopAt, turn] of [
    ['before-commit', 3],
    ['after-commit', 4],
    ['before-commit', 6],
  ] as const) {
    const pair = [enroller(stopAt, turn), enroller(stopAt, turn + 1)];
    for (const { says, kill } of pair) {
      expect(await says).toBe('there');
      await kill();
    }
  }
  const halfway = (await count()) as { runs: number };
  expect(halfway.runs).toBeGreaterThan(1_000);
  expect(halfway.runs).toBeLessThan(10_000);
  const last = [enroller(), enroller()];
  for (const { says, kill } of last) {
    expect(await says).toBe('done');
    await kill();
  }

  const runs = await db.rows<{ contact: string; version: number }>(sql`
    select r.contact_id as contact, v.version from automation_runs r join automation_versions v on v.id = r.version_id
    where r.automation_id = ${id} order by r.contact_id`);
  // Worked out apart from the code.
  const isBelow = (contact: string) => {
    const hash = createHash('sha256').update(`rollout ${workflow.rollout.id}\n${contact}`).digest('hex');
    return Math.floor((Number.parseInt(hash.slice(0, 12), 16) / 2 ** 48) * 10_000) < 731;
  };
  expect(runs).toEqual(people.map((contact) => ({ contact, version: isBelow(contact) ? 2 : 1 })));
  const entered = people.filter(isBelow).length;
  const { versions } = await own.done('GET', `/workflows/${id}/rollout`);
  expect(versions).toMatchObject([
    { version: 2, isNew: true, entered, active: entered },
    { version: 1, isNew: false, entered: 10_000 - entered, active: 10_000 - entered },
  ]);
});
