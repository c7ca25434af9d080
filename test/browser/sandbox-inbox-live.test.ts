import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { message, startSandbox } from '../../tools/mail-sandbox/test/support.ts';
import { accessibilityProblems, inPage, phone, sharedBrowser } from '../support/browser.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedBrowser();
});

const wide = { viewport: { width: 1400, height: 700 } };
const letters = (count: number, from = 1) =>
  Array.from({ length: count }, (_, i) => message({ Subject: `Letter ${from + i}` }));
const rows = (page: Page) => page.getByRole('navigation', { name: 'Messages' }).getByRole('link');
const subject = (page: Page) => page.locator('#subject');
const shows = (page: Page, text: string) => subject(page).getByText(text, { exact: true }).waitFor();
const isLive = (page: Page) => page.getByText('Live', { exact: true }).waitFor();
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

test('new mail appears, is announced, and takes away neither what is read nor the place in the list', async () => {
  const { server, url } = await startSandbox();
  await server.sendEmailBatch(letters(40));
  await inPage(browser, wide, async (page) => {
    await page.goto(url);
    await isLive(page);
    await rows(page).filter({ hasText: 'Letter 20' }).click();
    await shows(page, 'Letter 20');
    await page.evaluate('document.getElementById("subject").dataset.kept = "yes"');
    const top = () =>
      rows(page)
        .filter({ hasText: 'Letter 20' })
        .evaluate((row) => row.getBoundingClientRect().top);
    const before = await top();
    await expect.poll(() => page.locator('#list').evaluate((list) => list.scrollTop)).toBeGreaterThan(0);

    await server.sendEmail(message({ Subject: 'Just in', To: 'grace@example.com' }));
    await page.getByRole('button', { name: '1 new message' }).waitFor();
    await expect.poll(() => page.getByRole('status').textContent()).toBe('New message: Just in, to grace@example.com');
    await expect.poll(() => rows(page).count()).toBe(41);
    expect(Math.abs((await top()) - before)).toBeLessThan(2);
    expect(await subject(page).evaluate((heading) => heading.dataset.kept)).toBe('yes');
    await expect.poll(() => page.title()).toBe('Letter 20 · Mail sandbox');
    await expect.poll(() => page.locator('#counts').textContent()).toBe('40 unread · 41 messages');

    await page.getByRole('button', { name: '1 new message' }).click();
    await expect.poll(() => page.locator('#list').evaluate((list) => list.scrollTop)).toBe(0);
    await expect.poll(() => focused(page)).toBe('Just in, unread');
    await page.getByRole('button', { name: '1 new message' }).waitFor({ state: 'hidden' });
  });
});

test('shows what happens to the open message, and deletions, without reloading', async () => {
  const { server, url, post, remove } = await startSandbox();
  const answers = await server.sendEmailBatch([message({ Subject: 'First', To: 'one@example.com' }), ...letters(2)]);
  await inPage(browser, wide, async (page) => {
    await page.goto(`${url}/inbox/${answers[0]?.MessageID}`);
    await isLive(page);
    await post(`/api/messages/${answers[0]?.MessageID}/events`, { type: 'complaint' });
    await page.locator('#events').getByRole('cell', { name: 'Complaint' }).waitFor();
    await page.locator('#status').getByText('Complaint').waitFor();
    await page.locator('#rows').getByText('Complaint').waitFor();

    await remove('/api/messages?recipient=one@example.com');
    await expect.poll(() => rows(page).count()).toBe(2);
    await shows(page, 'First');
    await remove('/api/messages');
    await expect.poll(() => rows(page).count()).toBe(0);
    await shows(page, 'First');
    await server.sendEmail(message({ Subject: 'Afterwards' }));
    await rows(page).filter({ hasText: 'Afterwards' }).waitFor();
  });
});

test('goes through messages by j, k and arrows, reads by Enter and leaves by Escape', async () => {
  const { server, url } = await startSandbox();
  await server.sendEmailBatch(letters(3));
  await inPage(browser, wide, async (page) => {
    await page.goto(url);
    await page.getByText('next and previous message').waitFor();
    await page.keyboard.press('j');
    await shows(page, 'Letter 3');
    await page.keyboard.press('j');
    await shows(page, 'Letter 2');
    await page.keyboard.press('ArrowDown');
    await shows(page, 'Letter 1');
    await page.keyboard.press('ArrowUp');
    await shows(page, 'Letter 2');
    await expect.poll(() => focused(page)).toBe('Letter 2');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('subject');
    await page.keyboard.press('k');
    await shows(page, 'Letter 3');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('subject');
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toBe('Letter 3');
    await page.keyboard.press('Escape');
    await page.getByText('Select a message').waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    await expect.poll(() => focused(page)).toBe('Letter 3');
    await page.keyboard.press('/');
    await page.keyboard.type('jk/');
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('jk/');
    await page.getByText('Select a message').waitFor();
  });
});

test('turns shortcuts of one letter off, for good', async () => {
  const { server, url } = await startSandbox();
  await server.sendEmailBatch(letters(2));
  await inPage(browser, wide, async (page) => {
    await page.goto(url);
    await page.getByRole('button', { name: 'Turn off letter shortcuts' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Turn on letter shortcuts' }).waitFor();
    await page.keyboard.press('j');
    await rows(page).first().focus();
    await page.keyboard.press('ArrowDown');
    await shows(page, 'Letter 1');
    await page.getByRole('button', { name: 'Turn on letter shortcuts' }).click();
    await page.keyboard.press('k');
    await shows(page, 'Letter 2');
  });
});

test('marks what nobody has opened as unread, in every window', async () => {
  const { server, url } = await startSandbox();
  await server.sendEmailBatch(letters(3));
  await inPage(browser, wide, async (page) => {
    await page.goto(url);
    await expect.poll(() => page.title()).toBe('(3) Inbox · Mail sandbox');
    await isLive(page);
    await inPage(browser, wide, async (other) => {
      await other.goto(url);
      await rows(other).filter({ hasText: 'Letter 2' }).click();
      await shows(other, 'Letter 2');
    });
    await expect.poll(() => rows(page).allTextContents()).toEqual(['Letter 3, unread', 'Letter 2', 'Letter 1, unread']);
    await expect.poll(() => page.title()).toBe('(2) Inbox · Mail sandbox');
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await page.getByText('0 unread').waitFor();
    await expect.poll(() => rows(page).allTextContents()).toEqual(['Letter 3', 'Letter 2', 'Letter 1']);
  });
});

test('keeps the list where it was: with a message, an event, back, forward and a reload', async () => {
  const { server, url } = await startSandbox();
  await server.sendEmailBatch(letters(120));
  await inPage(browser, wide, async (page) => {
    await page.goto(url);
    await page.getByRole('link', { name: 'Older' }).click();
    await page.waitForURL(/before=/);
    await rows(page).filter({ hasText: 'Letter 40' }).click();
    await shows(page, 'Letter 40');
    const top = () => page.locator('#list').evaluate((list) => list.scrollTop);
    const before = await top();
    expect(before).toBeGreaterThan(0);
    await page.getByRole('link', { name: 'Source', exact: true }).click();
    await page.waitForURL(/view=source/);
    await page.getByRole('button', { name: 'Complaint' }).click();
    await page.getByText('Complaint: recorded.').waitFor();
    await expect.poll(() => focused(page)).toBe('Complaint');
    expect(await top()).toBe(before);
    await page.goBack();
    await page
      .getByRole('link', { name: 'HTML', exact: true, includeHidden: false })
      .and(page.locator('[aria-current]'))
      .waitFor();
    expect(await top()).toBe(before);
    await page.goBack();
    await page.getByText('Select a message').waitFor();
    expect(await top()).toBe(before);
    await page.goForward();
    await shows(page, 'Letter 40');
    await page.reload();
    await shows(page, 'Letter 40');
    expect(await top()).toBe(before);
  });
  await inPage(browser, { viewport: phone }, async (page) => {
    await page.goto(url);
    await isLive(page);
    await rows(page).filter({ hasText: 'Letter 90' }).click();
    await shows(page, 'Letter 90');
    expect(await page.evaluate(() => window.scrollY)).toBe(0);
    await page.keyboard.press('j');
    await shows(page, 'Letter 89');
    await server.sendEmail(message({ Subject: 'Meanwhile' }));
    await page.getByRole('status').getByText('New message: Meanwhile').waitFor();
    await page.keyboard.press('Escape');
    await rows(page).first().waitFor();
    expect(await page.evaluate(() => window.scrollY)).toBeGreaterThan(500);
    await expect.poll(() => focused(page)).toBe('Letter 89');
  });
});

test('a hidden page holds no connection, and catches up when it is seen again', async () => {
  const { server, url } = await startSandbox();
  await inPage(browser, wide, async (page) => {
    await page.goto(url);
    await isLive(page);
    await setHidden(page, true);
    const streams: string[] = [];
    page.on('request', (request) => streams.push(request.url()));
    await server.sendEmail(message({ Subject: 'While away' }));
    // A page that were still connected would have asked for the list by now.
    await server.sendEmail(message({ Subject: 'And another' }));
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1_000)));
    expect(streams).toEqual([]);
    await setHidden(page, false);
    await rows(page).filter({ hasText: 'While away' }).waitFor();
    expect(streams[0]).toContain('/inbox/changes?since=');
  });
});

test('says that it reconnects, and goes on after a restart of the sandbox', async () => {
  const first = await startSandbox();
  await inPage(browser, wide, async (page) => {
    await page.goto(first.url);
    await isLive(page);
    await first.close();
    await page.getByText('Reconnecting…').waitFor();
    const second = await startSandbox({ port: first.port });
    await second.server.sendEmail(message({ Subject: 'After the restart' }));
    await rows(page).filter({ hasText: 'After the restart' }).waitFor();
    await isLive(page);
  });
});

test('many messages at once become one page of rows and one announcement after another', async () => {
  const { server, url } = await startSandbox();
  await inPage(browser, wide, async (page) => {
    await page.goto(url);
    await isLive(page);
    for (let i = 0; i < 10; i += 1) await server.sendEmailBatch(letters(500, i * 500 + 1));
    await page.getByText('5,000 unread · 5,000 messages').waitFor();
    await expect.poll(() => rows(page).first().textContent()).toBe('Letter 5000, unread');
    await expect.poll(() => rows(page).count()).toBeLessThanOrEqual(200);
    const seen = new Set(await rows(page).allTextContents());
    await page.getByRole('link', { name: 'Older' }).click();
    await page.waitForURL(/before=/);
    const oldest = 5_000 - seen.size;
    await expect.poll(() => rows(page).first().textContent()).toBe(`Letter ${oldest}, unread`);
  });
});

test('works by links and forms where scripts do not run', async () => {
  const { server, url } = await startSandbox();
  await server.sendEmailBatch(letters(60));
  await inPage(browser, { ...wide, javaScriptEnabled: false }, async (page) => {
    await page.goto(url);
    await expect.poll(() => page.locator('#keys').isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Reload every 5 seconds' }).click();
    await page.getByRole('link', { name: 'Stop reloading' }).click();
    await page.getByRole('link', { name: 'Letter 60' }).click();
    await shows(page, 'Letter 60');
    await expect.poll(() => rows(page).first().textContent()).toBe('Letter 60');
    await page.getByRole('button', { name: 'Complaint' }).click();
    await page.getByText('Complaint: recorded.').waitFor();
    await page.getByRole('link', { name: 'Older' }).click();
    await expect.poll(() => rows(page).count()).toBe(10);
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await page.getByText('0 unread').waitFor();
  });
});

test('is accessible with new mail, in both themes, wide and on a phone', async () => {
  const { server, url } = await startSandbox();
  const { MessageID } = await server.sendEmail(
    message({ Attachments: [{ Name: 'a.txt', Content: 'AAAA', ContentType: 'text/plain', ContentID: null }] }),
  );
  await server.sendEmailBatch(letters(30));
  for (const colorScheme of ['light', 'dark'] as const)
    for (const { viewport } of [wide, { viewport: phone }]) {
      await inPage(browser, { colorScheme, viewport }, async (page) => {
        await page.goto(url);
        await isLive(page);
        await page.mouse.move(200, 400);
        await page.mouse.wheel(0, 300);
        await expect
          .poll(() => page.evaluate('document.getElementById("list").scrollTop + window.scrollY'))
          .toBeGreaterThan(0);
        await server.sendEmail(message({ Subject: 'One more' }));
        await page.getByRole('button', { name: /new message/ }).waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        await page.goto(`${url}/inbox/${MessageID}`);
        await page.getByText('a.txt').waitFor();
        expect(await accessibilityProblems(page)).toEqual([]);
        await expect
          .poll(() => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth))
          .toBe(false);
        await page.goto(`${url}/?q=nothing-like-this`);
        expect(await accessibilityProblems(page)).toEqual([]);
      });
    }
});

test('a hostile mail runs nothing and requests nothing on the page with the script', async () => {
  const evil = await startEvil();
  const { server, url } = await startSandbox();
  const html = hostileHtml(evil.url);
  const { MessageID } = await server.sendEmail(
    message({
      Subject: `<script src="${evil.url}/subject.js"></script><img src="${evil.url}/subject.png">`,
      HtmlBody: html,
      TextBody: html,
      Tag: `<svg onload="fetch('${evil.url}/tag')">`,
      Attachments: [
        { Name: 'script.js', Content: scriptOf(evil.url), ContentType: 'text/javascript', ContentID: null },
        { Name: 'p.svg', Content: svgOf(evil.url), ContentType: 'image/svg+xml', ContentID: 'cid:picture' },
      ],
    }),
  );
  await inPage(browser, wide, async (page) => {
    const foreign: string[] = [];
    const dialogs: string[] = [];
    // What the policy of the message blocks is reported as a request that failed, without having been made.
    page.on('requestfinished', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) foreign.push(request.url());
    });
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    page.context().on('page', (opened) => foreign.push(`opened ${opened.url()}`));
    await page.goto(url);
    await isLive(page);
    // Arrives while the page is open as well, so that the script takes its texts over.
    await server.sendEmail(message({ Subject: '<img src=x onerror=alert(1)>', HtmlBody: html }));
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.keyboard.press('j');
    await shows(page, '<img src=x onerror=alert(1)>');
    await page.keyboard.press('j');
    await page.waitForURL(new RegExp(MessageID));
    await page.frameLocator('iframe').getByText('Dear Ada').waitFor();
    for (const view of ['Text', 'Headers', 'Source', 'HTML']) {
      await page.getByRole('link', { name: view, exact: true }).click();
      await page.getByRole('link', { name: view, exact: true }).and(page.locator('[aria-current]')).waitFor();
    }
    const frame = page.frameLocator('iframe');
    await frame.getByText('Dear Ada').waitFor();
    await frame.getByRole('button', { name: 'Send' }).click();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 2_500)));
    expect(foreign).toEqual([]);
    expect(dialogs).toEqual([]);
    expect(evil.connections()).toBe(0);
    expect(page.url()).toContain(`/inbox/${MessageID}`);
    expect(await page.evaluate(() => document.documentElement.dataset.evil)).toBeUndefined();
    expect(await frame.locator('html').evaluate((root) => root.dataset.evil)).toBeUndefined();
    // Only who asks for images gets them, and is seen.
    await page.getByRole('link', { name: 'Load images' }).click();
    await expect.poll(() => evil.connections()).toBeGreaterThan(0);
    expect(dialogs).toEqual([]);
  });
});

test('nothing of a mail can become a script of the page, even by markup in the page itself', async () => {
  const { server, url } = await startSandbox();
  const { MessageID } = await server.sendEmail(
    message({
      Attachments: ['text/javascript', 'application/x-ecmascript', 'application/json'].map((ContentType, i) => ({
        Name: `${i}.js`,
        Content: Buffer.from('document.documentElement.dataset.evil = "yes"').toString('base64'),
        ContentType,
        ContentID: null,
      })),
    }),
  );
  // Without the policy of the page, what remains is the types that a mail's parts are served with.
  await inPage(browser, { ...wide, bypassCSP: true }, async (page) => {
    await page.goto(url);
    const parts = [0, 1, 2].map((index) => `/inbox/${MessageID}/attachments/${index}`);
    parts.push(`/inbox/${MessageID}/html`, `/inbox/${MessageID}/source.eml`, `/api/messages/${MessageID}`);
    const ran = await page.evaluate(
      (addresses) =>
        Promise.all(
          addresses.map(
            (src) =>
              new Promise<boolean>((resolve) => {
                const script = document.createElement('script');
                Object.assign(script, { src, onload: () => resolve(true), onerror: () => resolve(false) });
                document.body.append(script);
              }),
          ),
        ),
      parts,
    );
    expect(ran).toEqual(parts.map(() => false));
    expect(await page.evaluate(() => document.documentElement.dataset.evil)).toBeUndefined();
  });
  await inPage(browser, wide, async (page) => {
    await page.goto(url);
    await isLive(page);
    const ran = await page.evaluate(() => {
      const inline = document.createElementNS('http://www.w3.org/2000/svg', 'script');
      inline.append('document.documentElement.dataset.evil = "yes"');
      document.body.append(inline);
      return document.documentElement.dataset.evil;
    });
    expect(ran).toBeUndefined();
    const written = await page.evaluate(() => {
      try {
        document.body.innerHTML = '<img src="x">';
        return 'written';
      } catch (error) {
        return String(error);
      }
    });
    expect(written).toContain('TrustedHTML');
  });
});

/** Hides or shows the page as another tab in front of it does. */
async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate((isHidden) => {
    Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
}

/** A server that counts who connects to it. */
async function startEvil(): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const server = createServer((_, response) => response.end('alert(1)'));
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

function scriptOf(evil: string): string {
  return Buffer.from(`document.documentElement.dataset.evil = 'yes'; fetch('${evil}/attachment')`).toString('base64');
}

function svgOf(evil: string): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script><image href="${evil}/svg.png"/></svg>`;
  return Buffer.from(svg).toString('base64');
}

function hostileHtml(evil: string): string {
  const run = `document.documentElement.dataset.evil='yes';parent.document.documentElement.dataset.evil='yes';alert(1)`;
  return `<html><head><base href="${evil}/" target="_top"><meta http-equiv="refresh" content="1;url=${evil}/refresh">
<link rel="stylesheet" href="${evil}/style.css"><link rel="preload" as="image" href="${evil}/preload.png">
<link rel="prefetch" href="${evil}/prefetch"><link rel="preconnect" href="${evil}"><link rel="dns-prefetch" href="${evil}">
<link rel="modulepreload" href="${evil}/module.js"><link rel="manifest" href="${evil}/manifest"><link rel="icon" href="${evil}/icon">
<script>${run}</script><script src="${evil}/script.js"></script><script type="module">${run}</script>
<style>@import url(${evil}/import.css); body { background: url(${evil}/background.png) }
@font-face { font-family: x; src: url(${evil}/font.woff2) } p { font-family: x }</style></head>
<body onload="${run}"><p>Dear Ada</p><img src="${evil}/pixel.png" onerror="${run}" srcset="${evil}/set.png 2x"><img src="cid:picture">
<svg onload="${run}"><script>${run}</script><image href="${evil}/image.png"/><use href="${evil}/use.svg#a"/></svg>
<iframe src="${evil}/frame"></iframe><iframe srcdoc="<script>${run}</script>"></iframe><object data="${evil}/object"></object>
<embed src="${evil}/embed"><video src="${evil}/video" poster="${evil}/poster.png" autoplay></video><audio src="${evil}/audio" autoplay></audio>
<form action="${evil}/form" method="post"><input name="a" value="b" autofocus onfocus="${run}"><button>Send</button></form>
<details open ontoggle="${run}"><summary>More</summary></details><a href="javascript:${run}">link</a><marquee onstart="${run}">x</marquee>
<div><template shadowrootmode="open"><script>${run}</script></template></div><math><mtext><img src="${evil}/math.png"></mtext></math></body></html>`;
}
