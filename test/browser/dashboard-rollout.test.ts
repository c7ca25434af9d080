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
