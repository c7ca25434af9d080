import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { sharedBrowser, withheld } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let browser: Browser;
let project: TestProject;

beforeAll(async () => {
  browser = await sharedBrowser();
  database = await testDatabase();
  api = await apiWithDashboard(database);
  project = await aProject(database);
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const withoutIndent = (text: string) => text.replaceAll(/^[ \t]+/gm, '').trimEnd();
// As much as is typed in seconds.
const bodyOf = (html: string) => withoutIndent(withoutIndent(html.slice(html.indexOf('<body'))).slice(0, 1_000));
const typed = [
  '<p>Hello <b>{{firstName ?? there}}</b>, <i>good <u>news</u></i></p>',
  '<ul><li>One</li><li>Two &amp; three</li></ul>',
  '{% if plan == "pro" %}<p class="pro">Pro > free</p>{% endif %}',
  '<img src="https://acme.test/logo.png" alt=""/><br><hr/>',
  '<a href="{{unsubscribeUrl}}">Unsubscribe</a></div>',
].join('\n');
const welcome = readFileSync(new URL('../data/templates/welcome.html', import.meta.url), 'utf8');

test.each([
  ['every kind of tag', typed],
  ['a part of a real template', bodyOf(welcome)],
])('HTML typed key by key is stored as it was typed: %s', async (_, source) => {
  const message = { name: 'Typed', subject: 'Typed', body: '<p>Before</p>', from: project.sender };
  const { id } = (await api.call(project.secretKey, 'POST', '/templates', message)).body;
  await asOwner(browser, { api, database, project }, async (page) => {
    await page.goto(`${api.url}/app/${project.id}/templates/${id}`);
    await page.getByRole('textbox', { name: 'Body' }).click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    await page.keyboard.type(source);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Template saved').waitFor();
  });
  const stored = (await api.call(project.secretKey, 'GET', `/templates/${id}`)).body.body;
  // A new line begins with the indentation of the one before, as in every code editor.
  expect(withoutIndent(stored)).toBe(source);
});

test('until the page is used, the HTML is a picture; what is typed before the editor is there is not lost', async () => {
  const body = '<p>One &amp; two</p>\n{% if plan %}\n\n<b title="x">Pro</b>{% endif %}';
  const message = { name: 'Early', subject: 'Early', body, from: project.sender };
  const { id } = (await api.call(project.secretKey, 'POST', '/templates', message)).body;
  await asOwner(browser, { api, database, project }, async (page) => {
    const editor = await withheld(page, '**/assets/CodeMirror*');
    await page.goto(`${api.url}/app/${project.id}/templates/${id}`);
    const text = page.getByRole('textbox', { name: 'Body' });
    await text.getByText('Pro').waitFor();
    await page.waitForLoadState('networkidle');
    expect(editor.asked()).toBe(0);
    const lines = () => text.locator('[data-pos], .cm-line').allTextContents();
    const shown = await lines();
    expect(shown.join('\n')).toBe(body);

    await text.getByText('One').click();
    await page.keyboard.press('Home');
    for (const _ of '<p>') await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.type('Tw');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Enter');
    await page.keyboard.type('!');
    expect(await lines()).toEqual(shown);
    await expect.poll(editor.asked).toBe(1);
    editor.arrive();
    await text.locator('.cm-line').first().waitFor();
    await page.keyboard.type('?');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Template saved').waitFor();
  });
  const stored = (await api.call(project.secretKey, 'GET', `/templates/${id}`)).body.body;
  expect(withoutIndent(stored)).toBe(body.replace('One', 'T\n!?ne'));
});
