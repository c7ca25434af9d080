import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityProblems, withheld } from '../support/browser.ts';
import { type DesignerWorld, designerWorld, press, publish, stepOn, type } from '../support/designer.ts';

let designer: DesignerWorld;

beforeAll(async () => {
  designer = await designerWorld();
});
afterAll(() => designer?.[Symbol.asyncDispose]());

/** Two people, each in a browser of their own, with the same automation open. */
async function together(id: string, work: (one: Page, other: Page, otherEmail: string) => Promise<void>) {
  const { inDashboard, open, colleague } = designer;
  const second = await colleague('jona.wiek');
  await inDashboard(async (one) => {
    await open(one, `workflows/${id}`);
    await stepOn(one, 'Wait a month').waitFor();
    await inDashboard(async (other) => {
      await open(other, `workflows/${id}`);
      await stepOn(other, 'Wait a month').waitFor();
      await work(one, other, second.email);
    }, second);
  });
}

const nameOf = async (id: string, step: string) =>
  (await designer.own.done('GET', `/workflows/${id}`)).steps.find((each: { id: string }) => each.id === step)?.name;

test('who publishes second is told who was first, sees both edits together, and overwrites nothing', async () => {
  const { id, wait, done } = await designer.waiting('Spenden');
  await together(id, async (one, other, email) => {
    // Neither page may hear of the other by its own polling first.
    await one.route(`**/workflows/${id}`, (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await stepOn(one, 'Wait a month').click();
    await type(one, 'Name', 'Mine');
    await stepOn(other, 'Done').click();
    await type(other, 'Name', 'Theirs');
    await publish(other);
    await one.unroute(`**/workflows/${id}`);
    await press(one, 'Review and publish');
    await one.getByText(email).waitFor();
    await one.getByText('with your changes on top').waitFor();
    await stepOn(one, 'Mine').waitFor();
    await stepOn(one, 'Theirs').waitFor();
    expect([await nameOf(id, wait), await nameOf(id, done)]).toEqual(['Wait a month', 'Theirs']);
    if (await one.getByRole('dialog').isVisible()) await press(one, 'Keep editing');
    expect(await accessibilityProblems(one)).toEqual([]);
    await publish(one);
  });
  expect([await nameOf(id, wait), await nameOf(id, done)]).toEqual(['Mine', 'Theirs']);
});

test('a step that both have changed keeps what one was typing until it is decided', async () => {
  const { id, wait } = await designer.waiting('Patenschaften');
  await together(id, async (one, other, email) => {
    await stepOn(one, 'Wait a month').click();
    await type(one, 'Name', 'What I was typing');
    await stepOn(other, 'Wait a month').click();
    await type(other, 'Name', 'What they saved');
    await publish(other);
    // Heard of without any doing: the page looks again by itself.
    await one.getByText(email).waitFor();
    await one.getByText('Someone else changed this step too').waitFor();
    await one.getByText('What they saved').first().waitFor();
    await expect.poll(() => one.getByLabel('Name', { exact: true }).inputValue()).toBe('What I was typing');
    await expect.poll(() => one.getByRole('button', { name: 'Review and publish' }).isDisabled()).toBe(true);
    expect(await nameOf(id, wait)).toBe('What they saved');
    // And the other way round: they hear of it after they have typed.
    const news = await withheld(other, `**/workflows/${id}`);
    await press(one, 'Keep mine');
    await publish(one);
    expect(await nameOf(id, wait)).toBe('What I was typing');
    await type(other, 'Name', 'Once more theirs');
    news.arrive();
    await other.getByText('Someone else changed this step too').waitFor();
    await press(other, 'Use theirs');
    await other.getByText('No changes', { exact: true }).waitFor();
    await stepOn(other, 'What I was typing').waitFor();
  });
});

test('settings and the switch are guarded as well', async () => {
  const { own } = designer;
  const { id } = await designer.waiting('Beiträge');
  await together(id, async (one) => {
    await one.route(`**/workflows/${id}`, (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await own.done('PATCH', `/workflows/${id}`, { description: 'By a script' });
    await one.unroute(`**/workflows/${id}`);
    await press(one, 'Disable Beiträge');
    await one.getByText('An API key').first().waitFor();
    expect((await own.done('GET', `/workflows/${id}`)).enabled).toBe(true);
    await press(one, 'Disable Beiträge');
    await one.getByRole('button', { name: 'Enable Beiträge' }).waitFor();
  });
});
