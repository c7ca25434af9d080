import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { startBrowser } from '../support/browser.ts';
import { apiWithDashboard, asOwner } from '../support/dashboard-owner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let browser: Browser;
let project: TestProject;

beforeAll(async () => {
  browser = await startBrowser();
  database = await testDatabase();
  api = await apiWithDashboard(database);
  project = await aProject(database);
});
afterAll(async () => {
  await browser?.close();
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
