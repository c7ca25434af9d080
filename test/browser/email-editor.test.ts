import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject } from '../support/api.ts';
import { accessibilityProblems, phone, sharedBrowser, wide, withheld } from '../support/browser.ts';
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
  project = await aProject(database, 'Vogelfreunde am Wattenmeer e. V.');
  const data = { firstName: 'Ada', plan: 'pro', city: 'Emden' };
  await call('POST', '/contacts', { email: 'ada@wattenmeer.test', data });
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const call = async (method: string, path: string, body?: object) =>
  (await api.call(project.secretKey, method, path, body)).body;
const inDashboard = (place: string, work: (page: Page) => Promise<void>, options = {}) =>
  asOwner(
    browser,
    { api, database, project },
    async (page) => {
      await page.goto(`${api.url}/app/${project.id}/${place}`);
      await work(page);
    },
    { viewport: wide, ...options },
  );
const body = (page: Page) => page.getByRole('textbox', { name: 'Body' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const settings = (page: Page, of: string) => page.getByRole('region', { name: `${of} settings` });
const mail = (page: Page) => page.frameLocator('iframe[title="Email preview"]');

async function begin(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('From', { exact: true }).fill(project.sender);
  await page.getByLabel('Subject').fill('The herons are back');
  await body(page).click();
  await page.locator('.written').waitFor();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
}

/** Selects the text of a paragraph and presses Mod+K before the browser has told anybody of the selection. */
function selectAndLink(paragraph: Element): void {
  getSelection()?.selectAllChildren(paragraph);
  const mod = navigator.platform.startsWith('Mac') ? { metaKey: true } : { ctrlKey: true };
  paragraph.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ...mod, bubbles: true, cancelable: true }));
}

/** Saves and answers what is stored. */
async function saved(page: Page) {
  const answered = page.waitForResponse(
    (answer) => /\/templates(?:\/[0-9a-f-]{36})?$/.test(answer.url()) && answer.request().method() !== 'GET',
  );
  await button(page, 'Save').click();
  const { id } = await (await answered).json();
  await page.waitForURL((url) => url.pathname.endsWith(id));
  return call('GET', `/templates/${id}`);
}

/** Chooses a block by its name after a slash. */
async function slash(page: Page, name: string): Promise<void> {
  await page.keyboard.type(`/${name}`);
  await page.getByRole('option', { name, exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('listbox').waitFor({ state: 'detached' });
}

const shapeOf = (content: { type: string }[]) => content.map(({ type }) => type);

test('an email is written by keyboard alone: text, headings, lists, a variable, conditions and repetitions', async () => {
  await inDashboard('templates/new', async (page) => {
    await begin(page, 'By keyboard');
    await slash(page, 'Heading 1');
    await page.keyboard.type('Moin ');
    await page.keyboard.type('{{first');
    await page.getByRole('option', { name: 'firstName' }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('!');
    await page.keyboard.press('Enter');
    await page.keyboard.type('The ');
    await page.keyboard.press('ControlOrMeta+b');
    await page.keyboard.type('herons');
    await page.keyboard.press('ControlOrMeta+b');
    await page.keyboard.type(' <are> back & {{city ?? "here"}}.');
    await page.keyboard.press('Enter');
    await slash(page, 'Bullet list');
    await page.keyboard.type('One');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Two');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await slash(page, 'Conditional block');
    await settings(page, 'Conditional block').waitFor();
    await mail(page).getByText('Moin Ada!').waitFor();
    await mail(page).getByText('herons <are> back & Emden.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    const stored = await saved(page);
    expect(shapeOf(stored.document.content)).toEqual(['heading', 'paragraph', 'bulletList', 'conditional']);
    expect(stored.document.content[0].content).toEqual([
      { type: 'text', text: 'Moin ' },
      { type: 'variable', attrs: { name: 'firstName', fallback: '' } },
      { type: 'text', text: '!' },
    ]);
    expect(stored.body).toContain('<strong>herons</strong> &lt;are&gt; back &amp; {{city ?? "here"}}.');
    expect(stored.body).toContain('{% if plan %}');

    await button(page, 'Send test email').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');

    // It opens as it was, and is no change until something is changed.
    await page.reload();
    await body(page).getByText('Moin').waitFor();
    await expect.poll(() => button(page, 'Save').getAttribute('aria-disabled')).toBe('true');
    await expect.poll(() => page.locator('.chip').first().textContent()).toBe('firstName');
    // Cut out, replaced and pasted back, it is what was saved: nothing is left to be saved.
    await body(page).click();
    await page.locator('.written').waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('ControlOrMeta+c');
    await page.keyboard.press('Delete');
    await page.keyboard.type('Something else');
    await expect.poll(() => button(page, 'Save').getAttribute('aria-disabled')).toBe(null);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('ControlOrMeta+v');
    await body(page).getByText('Moin').waitFor();
    await expect.poll(() => button(page, 'Save').getAttribute('aria-disabled')).toBe('true');
  });
});

test('blocks are inserted, set up, moved, copied and deleted by mouse', async () => {
  await inDashboard('templates/new', async (page) => {
    await begin(page, 'By mouse');
    await page.keyboard.type('Above');
    const insert = async (name: string) => {
      await button(page, 'Block').click();
      await page.getByRole('menuitem', { name, exact: true }).click();
    };
    await insert('Button');
    await settings(page, 'Button').getByLabel('Label').fill('Count with us');
    await settings(page, 'Button').getByLabel('Link').fill('https://wattenmeer.test/count');
    await settings(page, 'Button').getByLabel('Alignment').selectOption('Center');
    await insert('Social links');
    await settings(page, 'Social links').getByLabel('Address').fill('https://wattenmeer.test');
    await insert('Divider');
    await insert('Spacer');
    await settings(page, 'Spacer').getByLabel('Height in pixels').fill('40');
    await insert('Columns');
    await settings(page, 'Columns').getByLabel('Columns').selectOption('3');
    await settings(page, 'Columns').getByLabel('Tinted background').check();
    await body(page).locator('.panel').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(shapeOf((await saved(page)).document.content)).toEqual([
      'paragraph',
      'button',
      'social',
      'divider',
      'spacer',
      'columns',
    ]);

    await body(page).getByText('Count with us').click();
    await button(page, 'Move block up').click();
    await button(page, 'Duplicate block').click();
    await body(page).locator('[data-block="spacer"]').click();
    await button(page, 'Delete block').click();
    await button(page, 'Save').click();
    await page.getByText('Template saved').first().waitFor();
    const path = `/templates/${new URL(page.url()).pathname.split('/').at(-1)}`;
    await expect
      .poll(async () => shapeOf((await call('GET', path)).document.content))
      .toEqual(['button', 'button', 'paragraph', 'social', 'divider', 'columns']);

    // The handle beside a block drags it.
    await body(page).getByText('Above').hover();
    const handle = page.getByLabel('Drag to move this block');
    await handle.hover();
    const from = await handle.boundingBox();
    await page.mouse.down();
    // The settings of the block that was selected before are gone once the other one is dragged.
    await page.mouse.move((from?.x ?? 0) + 10, (from?.y ?? 0) + 20, { steps: 2 });
    await settings(page, 'Divider').waitFor({ state: 'detached' });
    const target = await body(page).locator('[data-block="columns"]').boundingBox();
    await page.mouse.move((target?.x ?? 0) + 60, (target?.y ?? 0) + (target?.height ?? 0) - 2, { steps: 8 });
    await page.mouse.move((target?.x ?? 0) + 60, (target?.y ?? 0) + (target?.height ?? 0) + 10, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => body(page).locator('> *').last().textContent()).toBe('Above');
    const stored = await saved(page);
    const [first] = stored.document.content;
    expect(first.attrs).toEqual({ label: 'Count with us', href: 'https://wattenmeer.test/count', align: 'center' });
    const columns = stored.document.content.find(({ type }: { type: string }) => type === 'columns');
    expect(columns.content).toHaveLength(3);
    expect(columns.attrs).toEqual({ stack: true, panel: true });
    expect(stored.body).toContain('class="ph-panel"');
  });
});

test('what a list cannot hold comes below it: blocks, images and headings that are inserted from within it', async () => {
  await inDashboard('templates/new', async (page) => {
    await begin(page, 'From within a list');
    await slash(page, 'Bullet list');
    await page.keyboard.type('Herons');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Grey');
    await button(page, 'Block').click();
    await page.getByRole('menuitem', { name: 'Button', exact: true }).click();
    await settings(page, 'Button').getByLabel('Label').fill('Count');
    await mail(page).getByText('Count').waitFor();
    await body(page).getByText('Grey').click();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await slash(page, 'Image');
    await settings(page, 'Image').waitFor();
    await body(page).getByText('Herons').click();
    await settings(page, 'Image').waitFor({ state: 'detached' });
    await page.keyboard.press('Home');
    await slash(page, 'Heading 2');
    await mail(page).getByRole('heading', { name: 'Herons' }).waitFor();
    expect(shapeOf((await saved(page)).document.content)).toEqual(['heading', 'bulletList', 'image', 'button']);
  });
});

test('selected text gets marks and a link from the toolbar beside it', async () => {
  await inDashboard('templates/new', async (page) => {
    await begin(page, 'Linked');
    await page.keyboard.type('Read the count');
    await page.keyboard.press('Shift+Home');
    const bubble = page.getByRole('toolbar', { name: 'Selected text' });
    await bubble.getByRole('button', { name: 'Italic' }).click();
    await bubble.getByRole('button', { name: 'Link' }).click();
    await bubble.getByLabel('Link address').fill('https://wattenmeer.test/report');
    await page.keyboard.press('Enter');
    expect((await saved(page)).body).toMatch(
      /<a class="ph-link" href="https:\/\/wattenmeer\.test\/report"[^>]*><em>Read the count<\/em><\/a>|<em><a class="ph-link" href="https:\/\/wattenmeer\.test\/report"[^>]*>Read the count<\/a><\/em>/,
    );
  });
});

test('a layout is chosen, previewed as a contact on a phone, dark and as text, and its gaps are named', async () => {
  await inDashboard('templates/new', async (page) => {
    await page.getByLabel('Name', { exact: true }).fill('From a layout');
    await page.getByLabel('From', { exact: true }).fill(project.sender);
    await button(page, 'Layouts').click();
    const family = (name: string) => page.getByRole('dialog').getByRole('list', { name });
    for (const [name, count] of Object.entries({ 'Blank email': 1, Announce: 5, Sell: 6, Inform: 6, Serve: 5 }))
      await expect.poll(() => family(name).getByRole('listitem').count()).toBe(count);
    // The picture of a layout is the layout itself with sample values, drawn when it comes into view.
    const picture = (name: string) => family(name).locator('iframe').last();
    await expect.poll(() => picture('Serve').count()).toBe(0);
    await family('Serve')
      .getByRole('button', { name: /^Invitation/ })
      .focus();
    await picture('Serve').contentFrame().getByText('Grace invited you to join Acme.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Newsletter/ })
      .click();
    await mail(page).getByText('Hi Ada,').waitFor();
    await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('What’s new this month');
    await page.getByRole('region', { name: 'Checks' }).getByText('has no address').first().waitFor();
    await page.getByLabel('Appearance').selectOption('Dark');
    await expect
      .poll(() =>
        mail(page)
          .locator('.ph-card')
          .evaluate((card) => card.ownerDocument.defaultView?.getComputedStyle(card).backgroundColor),
      )
      .toBe('rgb(28, 28, 31)');
    await page.getByLabel('View', { exact: true }).selectOption('Plain text');
    await page.getByText('Hi Ada,').first().waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect((await saved(page)).document.preheader).toBe('The month in three stories');
  });
});

test('a layout over something written is undone and redone, by keyboard, for blocks and for HTML', async () => {
  const layout = async (page: Page, name: RegExp) => {
    await button(page, 'Layouts').press('Enter');
    await page.getByRole('dialog').getByRole('button', { name }).press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await inDashboard('templates/new', async (page) => {
    await begin(page, 'Kept');
    await page.keyboard.type('Written for an hour');
    await layout(page, /^Newsletter/);
    await body(page).getByText('Written for an hour').waitFor({ state: 'detached' });
    await button(page, 'Undo layout').press('Enter');
    await body(page).getByText('Written for an hour').waitFor();
    expect((await saved(page)).body).toContain('Written for an hour');
  });
  const html = '<p  class=x>Own   HTML</p>\n';
  const { id } = await call('POST', '/templates', { name: 'Own', subject: 'Own', body: html, from: project.sender });
  await inDashboard(`templates/${id}`, async (page) => {
    await layout(page, /^Receipt/);
    await button(page, 'Undo layout').press('Enter');
    await body(page).getByText('Own HTML').waitFor();
    await expect.poll(() => button(page, 'Save').getAttribute('aria-disabled')).toBe('true');
    await button(page, 'Redo layout').press('Enter');
    await body(page).getByText('Own HTML').waitFor({ state: 'detached' });
    const stored = await saved(page);
    expect([stored.subject, stored.document.content.length > 1]).toEqual(['Own', true]);
  });
});

test('what was written as HTML opens as HTML, byte for byte, and blocks become HTML when that is asked for', async () => {
  const html = '<p  class=x>Own   HTML &amp; more</p>\n<!-- kept -->\n';
  const { id } = await call('POST', '/templates', { name: 'Own', subject: 'Own', body: html, from: project.sender });
  await inDashboard(`templates/${id}`, async (page) => {
    await page.getByRole('textbox', { name: 'Body' }).getByText('Own HTML').waitFor();
    await page.getByLabel('Subject').fill('Renamed');
    const stored = await saved(page);
    expect([stored.body, stored.document]).toEqual([html, null]);
  });
  await inDashboard('templates/new', async (page) => {
    await begin(page, 'Then HTML');
    await page.keyboard.type('As blocks');
    await button(page, 'Edit as HTML').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Edit as HTML' }).click();
    await page.getByRole('textbox', { name: 'Body' }).getByText('<!doctype html>').waitFor();
    const stored = await saved(page);
    expect([stored.document, stored.body.includes('>As blocks</p>')]).toEqual([null, true]);
  });
});

test('the brand kit is changed beside the email, and every template follows it', async () => {
  const content = [{ type: 'button', attrs: { label: 'Go', href: 'https://wattenmeer.test' } }];
  const other = await call('POST', '/templates', {
    name: 'Other',
    subject: 'Other',
    from: project.sender,
    document: { version: 1, content },
  });
  await inDashboard('templates/new', async (page) => {
    await button(page, 'Brand kit').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Buttons and links').fill('#0b5fab');
    await dialog.getByLabel('Footer').fill('Vogelfreunde am Wattenmeer e. V.');
    await dialog.getByLabel('Postal address').fill('Am Deich 1, 26721 Emden');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save brand kit' }).click();
    await page.getByText('Brand kit saved').waitFor();
    await page.getByLabel('Subject').fill('x');
    await mail(page).getByText('Am Deich 1, 26721 Emden').waitFor();
  });
  const stored = await call('GET', `/templates/${other.id}`);
  expect(stored.body).toContain('bgcolor="#0b5fab"');
  expect(stored.body).toContain('Am Deich 1');
});

/** A picture of a size, drawn in the page, as a file for the chooser. */
async function picture(page: Page, name: string, width: number, height: number) {
  const base64 = await page.evaluate<string>(`(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: ${width}, height: ${height} });
    const context = canvas.getContext('2d');
    for (let x = 0; x < ${width}; x += 40) {
      context.fillStyle = 'hsl(' + (x / 10) + ' 80% 50%)';
      context.fillRect(x, 0, 40, ${height});
    }
    return canvas.toDataURL('image/png').split(',')[1];
  })()`);
  return { name, mimeType: 'image/png', buffer: Buffer.from(base64, 'base64') };
}

test('an image is cropped, scaled, described and found again, and dropped where it goes; a text of Word is pasted', async () => {
  await inDashboard('templates/new', async (page) => {
    await begin(page, 'With an image');
    await button(page, 'Block').click();
    await page.getByRole('menuitem', { name: 'Image', exact: true }).click();
    const chooser = page.waitForEvent('filechooser');
    await button(page, 'Upload image').click();
    await (await chooser).setFiles(await picture(page, 'heron.png', 2000, 1000));
    const dialog = page.getByRole('dialog');
    const insert = () => dialog.getByRole('button', { name: 'Insert image' }).click();
    await insert();
    await dialog.getByText('Enter alt text, or mark the image as decorative.').waitFor();
    await dialog.getByLabel('Alt text').fill('A heron in the mud');
    await dialog.getByLabel('Crop', { exact: true }).selectOption('1:1 (square)');
    await dialog.getByText('1000 × 1000 px').waitFor();
    const corner = dialog.getByRole('button', { name: 'Crop size' });
    await corner.press('Shift+ArrowLeft');
    await dialog.getByText('800 × 800 px').waitFor();
    await corner.press('Shift+ArrowRight');
    // By pointer as well, as far as the image goes.
    const area = await dialog.getByRole('button', { name: 'Crop area' }).boundingBox();
    const middle = { x: (area?.x ?? 0) + (area?.width ?? 0) / 2, y: (area?.y ?? 0) + (area?.height ?? 0) / 2 };
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.down();
    await page.mouse.move(middle.x - (area?.width ?? 0), middle.y, { steps: 4 });
    await page.mouse.up();
    await expect
      .poll(() => dialog.getByRole('button', { name: 'Crop area' }).getAttribute('style'))
      .toMatch(/left: 0%/);
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByLabel('Crop', { exact: true }).selectOption('Whole image');
    await insert();
    await dialog.waitFor({ state: 'detached' });
    await expect
      .poll(() =>
        body(page)
          .locator('img')
          .evaluate((image) => [(image as unknown as { naturalWidth: number }).naturalWidth, image.clientWidth]),
      )
      .toEqual([1072, 536]);

    await settings(page, 'Image').getByRole('button', { name: 'Recent images' }).click();
    await dialog.getByRole('button', { name: 'heron.png' }).click();
    await expect.poll(() => dialog.getByLabel('Alt text').inputValue()).toBe('A heron in the mud');
    await dialog.getByLabel('Decorative').check();
    await insert();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => settings(page, 'Image').getByLabel('Decorative').isChecked()).toBe(true);

    const small = await picture(page, 'dropped.png', 40, 20);
    const drop = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array([${[...small.buffer].join()}])], 'dropped.png', { type: 'image/png' }));
      return transfer;
    })()`);
    const place = await body(page).locator('img').boundingBox();
    const at = { clientX: (place?.x ?? 0) + 20, clientY: (place?.y ?? 0) + (place?.height ?? 0) - 1 };
    await body(page).dispatchEvent('drop', { dataTransfer: drop, ...at });
    await dialog.getByLabel('Alt text').fill('A tern');
    await insert();
    await expect.poll(() => body(page).locator('img').count()).toBe(2);
    expect((await saved(page)).document.content.map(({ attrs }: { attrs: object }) => attrs)).toMatchObject([
      { alt: '', decorative: true, width: 536 },
      { alt: 'A tern', decorative: false, width: 40 },
    ]);

    await body(page).focus();
    await page.keyboard.press('ControlOrMeta+a');
    await paste(page, {
      'text/html': `${word}<p class=MsoNormal><img src="data:image/png;base64,${small.buffer.toString('base64')}" alt="A flock"></p>`,
      'text/plain': 'Bird count',
    });
    await page.getByText('1 image was not pasted. Upload it as a file.').waitFor();
    await expect.poll(() => body(page).locator('img').getAttribute('src')).toMatch(/^http.*\.png$/);
    const { content } = (await saved(page)).document;
    expect(shapeOf(content)).toEqual([
      'heading',
      'paragraph',
      'bulletList',
      'orderedList',
      'columns',
      'columns',
      'image',
    ]);
    expect(content.at(-1).attrs).toMatchObject({ alt: 'A flock', width: 40 });
    // What the editor has copied itself keeps its blocks.
    await body(page).focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('ControlOrMeta+c');
    await page.keyboard.press('Delete');
    await body(page).locator('.heading').waitFor({ state: 'detached' });
    await page.keyboard.type('Other words');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('ControlOrMeta+v');
    await body(page).locator('.heading', { hasText: 'Bird count' }).waitFor();
    await expect.poll(() => body(page).locator('[data-column]').count()).toBe(4);
    await body(page).locator('img').waitFor();
  });
});

const word = readFileSync(new URL('../unit/dashboard/clipboard/word-365.html', import.meta.url), 'utf8');

/** Pastes into the text that has the focus, with a picture of the text beside it as Word and Excel bring one. */
const paste = (page: Page, texts: Record<string, string>) =>
  page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    for (const [type, text] of Object.entries(${JSON.stringify(texts)})) clipboardData.setData(type, text);
    clipboardData.items.add(new File(['x'], 'image.png', { type: 'image/png' }));
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  })()`);

test('the editor fits a phone', async () => {
  await inDashboard(
    'templates/new',
    async (page) => {
      await begin(page, 'On a phone');
      await page.keyboard.type('Short');
      await expect
        .poll(() => page.locator('html').evaluate((root) => root.scrollWidth))
        .toBeLessThanOrEqual(phone.width);
      expect(await accessibilityProblems(page)).toEqual([]);
      // The settings of a block come over the lower part of the window, and never over the block.
      await page.getByRole('button', { name: 'Block', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Button', exact: true }).click();
      await settings(page, 'Button').waitFor();
      const edge = async (part: Locator, end: 'top' | 'bottom') =>
        part.evaluate((element, which) => element.getBoundingClientRect()[which], end);
      const block = body(page).locator('[data-block="button"]');
      await expect
        .poll(async () => (await edge(block, 'bottom')) <= (await edge(settings(page, 'Button'), 'top')))
        .toBe(true);
    },
    { viewport: phone, colorScheme: 'dark' },
  );
});

test('blocks are saved under a name, inserted from the slash menu as a copy, renamed and deleted', async () => {
  await inDashboard('templates/new', async (page) => {
    await begin(page, 'With a signature');
    await page.keyboard.type('Many greetings');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Your bird counters');
    await page.keyboard.press('ControlOrMeta+a');
    await button(page, 'Save as block').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Save 2 blocks').waitFor();
    await dialog.getByLabel('Block name').fill('Signature');
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('Block “Signature” saved').waitFor();
    await dialog.waitFor({ state: 'detached' });
    // The dialog gives the focus back to the text.
    await expect
      .poll(() => body(page).evaluate((element) => element === element.ownerDocument.activeElement))
      .toBe(true);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    await page.keyboard.type('Dear friends');
    await page.keyboard.press('Enter');
    await slash(page, 'Signature');
    await body(page).getByText('Your bird counters').waitFor();
    const stored = await saved(page);
    expect(shapeOf(stored.document.content)).toEqual(['paragraph', 'paragraph', 'paragraph']);

    await button(page, 'Saved blocks').click();
    await dialog.getByLabel('Name of Signature').fill('Greeting');
    await dialog.getByRole('button', { name: 'Rename Signature' }).click();
    await dialog.getByRole('button', { name: 'Delete Greeting' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete Greeting' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete block' }).click();
    await dialog.getByText('No saved blocks yet').waitFor();
    expect((await call('GET', '/blocks')).data).toEqual([]);
    expect((await call('GET', `/templates/${stored.id}`)).body).toContain('Your bird counters');
  });
});

test('a variable with a fallback is put into subject and preheader, at the cursor, by keyboard', async () => {
  await inDashboard('templates/new', async (page) => {
    await begin(page, 'With variables');
    const insert = async (which: number, fallback: string) => {
      await button(page, 'Insert a variable').nth(which).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByLabel('Variable', { exact: true }).fill('firstName');
      await page.getByRole('dialog').getByLabel('Fallback').fill(fallback);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await page.getByLabel('Subject').fill('Moin , the herons are back');
    await page.getByLabel('Subject').focus();
    await page.keyboard.press('Home');
    for (const _ of 'Moin ') await page.keyboard.press('ArrowRight');
    await insert(0, 'dear "friend"');
    await insert(1, '');
    await expect
      .poll(() => page.getByLabel('Subject').inputValue())
      .toBe(`Moin {{ firstName ?? 'dear "friend"' }}, the herons are back`);
    await expect.poll(() => page.getByLabel('Preheader').inputValue()).toBe('{{ firstName }}');
    await page.getByText('Moin Ada, the herons are back').waitFor();
  });
});

async function openHistory(page: Page): Promise<void> {
  await button(page, 'More actions').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Version history' }).press('Enter');
}

const versionRadio = (page: Page, version: number) =>
  page.getByRole('dialog').getByRole('radio', { name: new RegExp(`^Version ${version}\\b`) });

test('a version of a template is found by who and when, previewed and restored, by keyboard', async () => {
  const document = (text: string) => ({
    version: 1,
    content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
  });
  const first = { name: 'Versions', subject: 'First', from: project.sender, document: document('The first words') };
  const { id } = await call('POST', '/templates', first);
  await call('PATCH', `/templates/${id}`, { document: document('Other words') });
  await inDashboard(`templates/${id}`, async (page) => {
    await page.getByLabel('Subject').fill('Second');
    await saved(page);
    await openHistory(page);
    const owner = versionRadio(page, 3);
    await owner.waitFor();
    await expect.poll(() => owner.isChecked()).toBe(true);
    await expect.poll(() => page.getByRole('dialog').getByText('· API key').count()).toBe(2);
    await page.getByRole('dialog').getByText('Same as what is saved now.').waitFor();
    await expect.poll(() => button(page, 'Restore').getAttribute('aria-disabled')).toBe('true');

    await owner.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('dialog').getByText('Differs from what is saved now in: Subject, Content.').waitFor();
    await page.getByRole('dialog').frameLocator('iframe').getByText('The first words').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await button(page, 'Restore version 1').focus();
    await page.keyboard.press('Enter');
    await page.getByText('Version 1 restored').waitFor();
    await body(page).getByText('The first words').waitFor();
    await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('First');
    expect(await call('GET', `/templates/${id}`)).toMatchObject({ subject: 'First', revision: 4 });

    // What is not saved yet is never lost to an older version.
    await page.getByLabel('Subject').fill('Not saved');
    await openHistory(page);
    await page.getByRole('dialog').getByText('Restored from version 1').waitFor();
    await versionRadio(page, 2).check();
    await page.getByRole('dialog').getByText('You have unsaved changes.').waitFor();
    await expect.poll(() => button(page, 'Restore version 2').getAttribute('aria-disabled')).toBe('true');
  });
});

test('a version of a campaign draft is restored, unless somebody else was faster', async () => {
  const draft = { name: 'Count', subject: 'First', body: '<p>Count</p>', from: project.sender, audienceType: 'ALL' };
  const { id } = (await call('POST', '/campaigns', draft)).data;
  await call('PUT', `/campaigns/${id}`, { subject: 'Second' });
  await inDashboard(`campaigns/${id}`, async (page) => {
    await openHistory(page);
    await versionRadio(page, 1).check();
    await call('PUT', `/campaigns/${id}`, { subject: 'Third' });
    await button(page, 'Restore version 1').click();
    await page.getByRole('dialog').getByText('This campaign was changed since you read it').waitFor();
    await versionRadio(page, 3).waitFor();
    await button(page, 'Restore version 1').click();
    await page.getByText('Version 1 restored').waitFor();
    await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('First');
  });
});

const rich = [
  { type: 'heading', attrs: { level: 2 }, content: [{ type: 'text', text: 'Moin' }] },
  {
    type: 'paragraph',
    content: [
      { type: 'text', text: 'The ' },
      { type: 'text', text: 'herons', marks: [{ type: 'bold' }] },
      { type: 'hardBreak' },
      { type: 'text', text: 'of ' },
      { type: 'variable', attrs: { name: 'city', fallback: 'the coast' } },
      { type: 'text', text: ' are back' },
    ],
  },
  { type: 'paragraph', attrs: { align: 'center' }, content: [] },
  {
    type: 'bulletList',
    content: [{ type: 'listItem', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'One' }] }] }],
  },
  { type: 'button', attrs: { label: 'Count with us', href: 'https://wattenmeer.test' } },
  { type: 'image', attrs: { src: '', alt: '' } },
  { type: 'spacer', attrs: { height: 40 } },
  { type: 'divider' },
  { type: 'social', attrs: { links: [{ network: 'Website', href: 'https://wattenmeer.test' }] } },
  { type: 'html', attrs: { code: '<hr>' } },
  {
    type: 'columns',
    content: ['Left', 'Right'].map((text) => ({
      type: 'column',
      content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
    })),
  },
  {
    type: 'conditional',
    attrs: { variable: 'plan', operator: 'equals', value: 'pro' },
    content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Only pro' }] }],
  },
];

test('until the page is used, the email is a picture of what the editor draws, and the editor is not loaded', async () => {
  const document = { version: 1, content: rich };
  const { id } = await call('POST', '/templates', { name: 'Seen', subject: 'Seen', from: project.sender, document });
  await inDashboard('templates', async (page) => {
    const editor = await withheld(page, '**/assets/BlockEditor*');
    await page.goto(`${api.url}/app/${project.id}/templates/${id}`);
    await body(page).getByText('Only pro').waitFor();
    await page.waitForLoadState('networkidle');
    expect(editor.asked()).toBe(0);
    expect(await accessibilityProblems(page)).toEqual([]);
    /** Where every block is, what it says and how it is colored. */
    const drawn = () =>
      body(page).evaluate((root) => {
        const { x, y } = root.getBoundingClientRect();
        return [...root.querySelectorAll('p, .heading, li, [data-block], .chip, strong, .email-button')].map(
          (element) => {
            const { left, top, width, height } = element.getBoundingClientRect();
            const { color, fontSize } = root.ownerDocument.defaultView?.getComputedStyle(element) ?? {};
            return [element.tagName, element.textContent, left - x, top - y, width, height, color, fontSize].join(' ');
          },
        );
      });
    const picture = await drawn();
    await page.mouse.move(50, 50, { steps: 2 });
    await expect.poll(editor.asked).toBe(1);
    editor.arrive();
    await page.locator('.written').waitFor();
    expect(await drawn()).toEqual(picture);
    await expect.poll(() => button(page, 'Save').getAttribute('aria-disabled')).toBe('true');
  });
});

test('what is typed, moved to and pressed before the editor is there is done once it is', async () => {
  const document = { version: 1, content: rich };
  const { id } = await call('POST', '/templates', { name: 'Early', subject: 'Early', from: project.sender, document });
  await inDashboard(`templates/${id}`, async (page) => {
    await body(page).getByText('are back').waitFor();
    const editor = await withheld(page, '**/assets/BlockEditor*');
    await body(page).getByText('are back').click();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.type('west of y');
    await page.keyboard.press('Backspace');
    await button(page, 'Align center').click();
    await expect.poll(() => body(page).textContent()).not.toContain('west');
    editor.arrive();
    await page.locator('.written').waitFor();
    await page.keyboard.type('.');
    expect((await saved(page)).document.content[1].attrs).toEqual({ align: 'center' });
  });
  const [, paragraph] = (await call('GET', `/templates/${id}`)).document.content;
  expect(paragraph.content.map(({ text = '|' }) => text).join('')).toBe('The herons|owest of .f | are back');
});

test('a block without text that is pressed before the editor is there has its settings once it is', async () => {
  const content = [{ type: 'button', attrs: { label: 'Go', href: 'https://wattenmeer.test' } }];
  const message = { name: 'Pressed', subject: 'Pressed', from: project.sender, document: { version: 1, content } };
  const { id } = await call('POST', '/templates', message);
  await inDashboard(`templates/${id}`, async (page) => {
    await body(page).getByText('Go', { exact: true }).click();
    await settings(page, 'Button').getByLabel('Label').fill('Gone');
    expect((await saved(page)).document.content[0].attrs.label).toBe('Gone');
  });
});

test('keys save and link: Mod+S, and Mod+K for selected text, as a button does for text that is not written yet', async () => {
  await inDashboard('templates/new', async (page) => {
    await begin(page, 'By keys');
    await page.keyboard.type('Read the count');
    await page.keyboard.press('Shift+Home');
    await page.keyboard.press('ControlOrMeta+k');
    const address = page.getByLabel('Link address');
    await address.fill('https://wattenmeer.test/never');
    await address.press('Escape');
    await address.waitFor({ state: 'detached' });
    await page.keyboard.press('ControlOrMeta+k');
    await expect.poll(() => address.inputValue()).toBe('');
    await address.fill('https://wattenmeer.test/report');
    await address.press('Enter');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('toolbar', { name: 'Format' }).getByRole('button', { name: 'Link' }).click();
    await address.fill('https://wattenmeer.test/map');
    await address.press('Enter');
    // The search of all pages has the same key elsewhere.
    expect(await page.getByRole('dialog').count()).toBe(0);
    await body(page).locator('p').first().evaluate(selectAndLink);
    await expect.poll(() => address.inputValue()).toBe('https://wattenmeer.test/report');
    await address.press('Escape');
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByText('Template saved').waitFor();
    await page.waitForURL(/\/templates\/[0-9a-f-]{36}$/);
    const { document } = await call('GET', `/templates/${new URL(page.url()).pathname.split('/').at(-1)}`);
    const links = document.content.map(({ content: [text] }: { content: { text: string; marks: object[] }[] }) => [
      text?.text,
      text?.marks,
    ]);
    const link = (href: string) => [{ type: 'link', attrs: { href } }];
    expect(links).toEqual([
      ['Read the count', link('https://wattenmeer.test/report')],
      ['https://wattenmeer.test/map', link('https://wattenmeer.test/map')],
    ]);
  });
});

test('what was written is undone after a reload, and what was not saved is redone', async () => {
  const text = (words: string) => ({ type: 'paragraph', content: [{ type: 'text', text: words }] });
  const document = { version: 1, content: [text('Herons'), text('Terns')] };
  const { id } = await call('POST', '/templates', {
    name: 'Undone',
    subject: 'Undone',
    from: project.sender,
    document,
  });
  await inDashboard(`templates/${id}`, async (page) => {
    page.on('dialog', (dialog) => dialog.accept());
    const write = async (after: string, words: string) => {
      await body(page).getByText(after).click();
      await page.locator('.written:focus-within').waitFor();
      await page.keyboard.press('End');
      await page.keyboard.type(words);
    };
    const reads = (...paragraphs: string[]) =>
      expect.poll(() => body(page).locator('p').allTextContents()).toEqual(paragraphs);
    await write('Terns', ' call');
    await write('Herons', ' wade');
    await saved(page);
    await write('Terns call', ' loudly');
    await reads('Herons wade', 'Terns call loudly');

    await page.reload();
    await body(page).getByText('Terns call').click();
    await page.locator('.written:focus-within').waitFor();
    await reads('Herons wade', 'Terns call');
    await expect.poll(() => button(page, 'Save').getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.press('ControlOrMeta+Shift+z');
    await reads('Herons wade', 'Terns call loudly');
    await page.keyboard.press('ControlOrMeta+z');
    await page.keyboard.press('ControlOrMeta+z');
    await reads('Herons', 'Terns call');
    await page.keyboard.press('ControlOrMeta+z');
    await reads('Herons', 'Terns');
    await expect.poll(() => button(page, 'Undo').getAttribute('aria-disabled')).toBe('true');
    expect(
      (await saved(page)).document.content.map(({ content }: { content: { text: string }[] }) => content[0]?.text),
    ).toEqual(['Herons', 'Terns']);
  });
});

test('a new email comes from a verified domain, and an address typed or pasted as a whole is taken apart', async () => {
  await inDashboard('templates/new', async (page) => {
    const name = page.getByLabel('From', { exact: true });
    const domain = page.getByLabel('From domain');
    await expect
      .poll(async () => [await name.inputValue(), await domain.inputValue()])
      .toEqual(['hello', project.domain]);
    // It is no change of one's own: leaving asks nothing.
    await expect.poll(() => button(page, 'Save').getAttribute('aria-disabled')).toBe('true');
    await name.fill('news@elsewhere.test');
    await expect
      .poll(async () => [await name.inputValue(), await domain.inputValue()])
      .toEqual(['news', 'elsewhere.test']);
    await domain.selectOption(project.domain);
    await name.press('@');
    await expect.poll(() => domain.evaluate((select) => select === select.ownerDocument.activeElement)).toBe(true);
    await page.getByLabel('Name', { exact: true }).fill('From a domain');
    await page.getByLabel('Subject').fill('From a domain');
    expect((await saved(page)).from).toBe(`news@${project.domain}`);
  });
});
