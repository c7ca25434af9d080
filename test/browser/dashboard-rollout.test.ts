// biome-ignore-all lint/suspicious/noThenProperty: the field of the contract.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/store/sql.ts';
import { accessibilityProblems } from '../support/browser.ts';
import { type DesignerWorld, designerWorld, press, stepOn, type } from '../support/designer.ts';

let designer: DesignerWorld;

beforeAll(async () => {
  designer = await designerWorld();
});
afterAll(() => designer?.[Symbol.asyncDispose]());

test('a version is published to a share of new contacts, watched beside the previous one, and rolled back or out', async () => {
  const { own, inDashboard, open, waiting, world } = designer;
  const { id } = await waiting('Willkommen');
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    const dialog = page.getByRole('dialog');
    const publishTo = async (days: string) => {
      await stepOn(page, 'Wait a month').click();
      await type(page, 'Duration', days);
      await press(page, 'Review and publish');
      await dialog.getByText('All new contacts get the new version.').waitFor();
      const slider = dialog.getByRole('slider', { name: 'Share of new contacts' });
      await slider.press('Home');
      for (let percent = 1; percent < 10; percent++) await slider.press('ArrowRight');
      await dialog.getByText('10% of new contacts first').waitFor();
      await dialog.getByLabel('Stop above % failed').fill('3');
      expect(await accessibilityProblems(page)).toEqual([]);
      await press(page, 'Publish to 10%');
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('Version 2 at 10%').waitFor();
    };
    await publishTo('31');
    expect(await own.done('GET', `/workflows/${id}/rollout`)).toMatchObject({
      state: 'RUNNING',
      percent: 10,
      days: 7,
      stopIf: { failureRate: 3, unsubscribeRate: 2 },
    });
    await press(page, 'Rollout');
    await dialog.getByRole('cell', { name: '2, new' }).waitFor();
    await dialog.getByRole('cell', { name: '1, previous' }).waitFor();
    expect(await dialog.getByRole('cell', { name: 'No goal' }).count()).toBe(2);
    await dialog
      .getByText('It is rolled back above 3% failed or 2% unsubscribed, once 50 contacts have entered.')
      .waitFor();
    const slider = dialog.getByRole('slider', { name: 'Share of new contacts' });
    await slider.press('ArrowRight');
    await press(page, 'Change share');
    await dialog.getByText('11% of new contacts get version 2').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'Roll back');
    await dialog.waitFor({ state: 'detached' });
    await stepOn(page, 'Wait a month').getByText('30 days').waitFor();
    await page.getByText('Version 2 at').waitFor({ state: 'detached' });
    expect(await page.getByText('has changed this workflow').count()).toBe(0);

    await press(page, 'Rollout');
    await dialog.getByText('Version 2 was rolled back').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();

    await publishTo('31');
    await press(page, 'Rollout');
    await press(page, 'Roll out to all');
    await dialog.waitFor({ state: 'detached' });
    await stepOn(page, 'Wait a month').getByText('31 days').waitFor();
    await press(page, 'Rollout');
    await dialog.getByText('Version 2 is for all new contacts since').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    // As the bookkeeping leaves one that has broken a limit.
    await world.database.db.count(sql`
      update automation_rollouts set state = 'STOPPED', stopped = '{"limit": "failureRate", "count": 4, "of": 60, "percent": 3}'
      where automation_id = ${id} and state = 'FINISHED'`);
    await press(page, 'Rollout');
    await dialog.getByText('4 of 60 contacts failed, more than 3%.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});

test('both versions of a rollout stand side by side with the rate of their goal', async () => {
  const { own, inDashboard, open, waiting, world } = designer;
  const { id } = await waiting('Ziel');
  const goal = { on: { event: 'order.paid' }, withinDays: 14, then: 'count' };
  await own.done('PATCH', `/workflows/${id}`, { goal });
  const { steps, transitions } = await own.done('GET', `/workflows/${id}`);
  const changed = steps.map((step: { type: string }) =>
    step.type === 'DELAY' ? { ...step, config: { amount: 31, unit: 'days' } } : step,
  );
  await own.done('PUT', `/workflows/${id}/graph`, { steps: changed, transitions, rollout: { percent: 50 } });
  for (const name of ['one', 'two', 'three', 'four']) {
    const contactId = await own.contact(`goal-${name}@kunde.example`);
    await own.done('POST', `/workflows/${id}/executions`, { contactId });
  }
  // All four in the new version, and one of them has reached the goal.
  await world.database.db.count(sql`
    update automation_goals set version_id = (select version_id from automation_rollouts where automation_id = ${id})`);
  await world.database.db.count(sql`
    update automation_goals set met_at = now(), check_at = null where run_id = (select min(run_id::text)::uuid from automation_goals)`);
  await inDashboard(async (page) => {
    await open(page, `workflows/${id}`);
    await press(page, 'Rollout');
    await page.getByRole('cell', { name: '1 of 4: 25% (4.6–69.9%)' }).waitFor();
    await page.getByRole('cell', { name: '0 of 0', exact: true }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});
