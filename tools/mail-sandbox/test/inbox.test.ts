import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { escapeHtml } from '../src/pages/layout.ts';
import { message, startReceiver, startSandbox } from './support.ts';

const browserFolder = fileURLToPath(new URL('../browser', import.meta.url));

const attacks = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' autofocus onfocus='alert(1)",
  '</title><script>alert(1)</script>',
  '</textarea></pre><svg onload=alert(1)>',
];

function form(fields: Record<string, string>): [string, Record<string, string>] {
  return [new URLSearchParams(fields).toString(), { 'content-type': 'application/x-www-form-urlencoded' }];
}

test.each(attacks)('shows %s in subject, names, tag, metadata, links and file names as text only', async (attack) => {
  const { server, get, post } = await startSandbox();
  const { MessageID } = await server.sendEmail(
    message({
      Subject: attack,
      From: `"${attack.replaceAll('"', '\\"')}" <hello@acme.test>`,
      To: `"${attack.replaceAll('"', '\\"')}" <ada@example.com>`,
      Tag: attack,
      TextBody: attack,
      Metadata: { eid: attack },
      Headers: [{ Name: 'X-Attack', Value: attack }],
      Attachments: [{ Name: attack, Content: 'AAAA', ContentType: 'text/html', ContentID: null }],
    }),
  );
  await post(`/api/messages/${MessageID}/events`, { type: 'click', link: `https://acme.test/${attack}` });
  const pages = ['/', `/?q=${encodeURIComponent(attack)}`, ...['html', 'text', 'source'].map(viewOf)];
  for (const path of pages) {
    const page = await get(path);
    expect(page.status).toBe(200);
    expect(page.text, path).not.toContain(attack);
    const others = page.text.replace('<script type="module" src="/inbox/script/inbox.js"></script>', '');
    expect(others, path).not.toMatch(/<script|<svg|onerror=alert\(1\)>|<img/i);
    if (path !== '/inbound') expect(page.text, path).toContain(escapeHtml(attack));
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'; /);
    expect(page.headers.get('content-security-policy')).toContain(
      "; script-src 'self'; connect-src 'self'; require-trusted-",
    );
  }
  const refilled = await post('/inbound', ...form({ from: attack, to: attack, text: attack, html: attack }));
  expect(refilled.status).toBe(422);
  expect(refilled.text).not.toContain(attack);
  expect(refilled.text).toContain(escapeHtml(attack));

  function viewOf(view: string): string {
    return `/inbox/${MessageID}?view=${view}`;
  }
});

test("shows a message's HTML in a frame without rights, from a path with a policy of its own", async () => {
  const { server, get } = await startSandbox();
  const HtmlBody =
    '<!DOCTYPE html><html><head><title>x</title></head><body><script>alert(1)</script><img src="cid:logo">' +
    '<img src="https://tracker.example/p.gif"></body></html>';
  const { MessageID } = await server.sendEmail(
    message({
      HtmlBody,
      Attachments: [{ Name: 'logo.png', Content: 'iVBORw0K', ContentType: 'image/png', ContentID: 'cid:logo' }],
    }),
  );
  const page = await get(`/inbox/${MessageID}`);
  const frame = /<iframe[^>]*>/s.exec(page.text)?.[0] ?? '';
  expect(frame).toContain(`src="/inbox/${MessageID}/html"`);
  expect(/sandbox="([^"]*)"/.exec(frame)?.[1]).toBe('allow-popups allow-popups-to-escape-sandbox');

  const content = await get(`/inbox/${MessageID}/html`);
  const policy = content.headers.get('content-security-policy')?.split('; ') ?? [];
  expect(policy).toEqual(
    expect.arrayContaining([
      'sandbox allow-popups allow-popups-to-escape-sandbox',
      "default-src 'none'",
      "form-action 'none'",
      "base-uri 'none'",
      'img-src data:',
    ]),
  );
  expect(policy.join(' ')).not.toMatch(/script-src|allow-scripts|allow-same-origin/);
  expect(content.headers.get('x-content-type-options')).toBe('nosniff');
  expect(content.text.startsWith('<!DOCTYPE html><html><head><base target="_blank">')).toBe(true);
  expect(content.text).toContain('<img src="data:image/png;base64,iVBORw0K">');

  const withImages = await get(`/inbox/${MessageID}/html?images=1`);
  expect(withImages.headers.get('content-security-policy')).toContain('img-src data: https: http:');
});

test('hands out attachments as downloads only, byte for byte', async () => {
  const { server, url } = await startSandbox();
  const bytes = Buffer.from([0, 255, 13, 10, 60, 115]);
  const { MessageID } = await server.sendEmail(
    message({
      Attachments: [
        {
          Name: '../Überweisung "1".html',
          Content: bytes.toString('base64'),
          ContentType: 'text/html',
          ContentID: null,
        },
        { Name: 'odd.dat', Content: 'AAAA', ContentType: 'text/html; charset=x"', ContentID: null },
        { Name: 'run.mjs', Content: 'AAAA', ContentType: 'Text/JavaScript', ContentID: null },
        { Name: 'style.txt', Content: 'AAAA', ContentType: 'text/css', ContentID: null },
      ],
    }),
  );
  const reply = await fetch(`${url}/inbox/${MessageID}/attachments/0`);
  expect(Buffer.from(await reply.arrayBuffer())).toEqual(bytes);
  expect(reply.headers.get('content-disposition')).toMatch(/^attachment; filename="[^"/]*(\\"[^"/]*)*"/);
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  expect(reply.headers.get('content-security-policy')).toContain('sandbox');
  const odd = await fetch(`${url}/inbox/${MessageID}/attachments/1`);
  expect(odd.headers.get('content-type')).toBe('application/octet-stream');
  for (const index of [2, 3]) {
    const active = await fetch(`${url}/inbox/${MessageID}/attachments/${index}`);
    expect(active.headers.get('content-type')).toBe('application/octet-stream');
  }
  expect((await fetch(`${url}/inbox/${MessageID}/attachments/4`)).status).toBe(404);
  const source = await fetch(`${url}/inbox/${MessageID}/source.eml`);
  expect(source.headers.get('content-disposition')).toBe(`attachment; filename="${MessageID}.eml"`);
});

test('lists newest first, searches, and pages without losing or repeating a message', async () => {
  const { server, get } = await startSandbox();
  await server.sendEmailBatch(Array.from({ length: 120 }, (_, i) => message({ Subject: `Letter no. ${i};` })));
  await server.sendEmail(message({ To: 'grace@example.com', Subject: 'A note' }));
  const seen: string[] = [];
  let next: string | undefined = '/?q=letter';
  while (next) {
    const page: string = (await get(next)).text;
    seen.push(...[...page.matchAll(/Letter no\. (\d+);/g)].map((match) => match[1] ?? ''));
    next = /href="([^"]*)" rel="next"/.exec(page)?.[1]?.replaceAll('&#38;', '&');
  }
  expect(seen).toEqual(Array.from({ length: 120 }, (_, i) => String(119 - i)));
  const found = (await get('/?q=GRACE')).text;
  expect(found).toContain('A note');
  expect(found).not.toContain('Letter no.');
  expect((await get('/?q=nothing-like-this')).text).toContain('No message matches');
});

test('reloads by itself only when asked', async () => {
  const { get } = await startSandbox();
  expect((await get('/')).text).not.toContain('http-equiv="refresh"');
  expect((await get('/?refresh=1')).text).toContain('<meta http-equiv="refresh" content="5">');
});

test('breaks an address after its @ first', async () => {
  const { server, get } = await startSandbox();
  const { MessageID } = await server.sendEmail(message({ To: '"A@<b>" <ada@example.com>' }));
  expect((await get('/')).text).toContain('<div class="to">ada@<wbr>example.com</div>');
  expect((await get(`/inbox/${MessageID}`)).text).toContain('A@<wbr>&#60;b&#62; &#60;ada@<wbr>example.com&#62;');
});

test('serves the files of its script and no others', async () => {
  const { get } = await startSandbox();
  const page = (await get('/')).text;
  const loaded = new Set(['inbox.js']);
  expect(page).toContain('src="/inbox/script/inbox.js"');
  for (const name of loaded) {
    const file = await get(`/inbox/script/${name}`);
    expect([file.status, file.headers.get('content-type')], name).toEqual([200, 'text/javascript; charset=utf-8']);
    for (const [, imported = ''] of file.text.matchAll(/from '\.\/([^']+)'/g)) loaded.add(imported);
  }
  expect([...loaded].sort()).toEqual(readdirSync(browserFolder).filter((name) => name.endsWith('.js')));
  for (const name of ['nope.js', 'tsconfig.json', '..%2fpackage.json', 'inbox', '__proto__.js'])
    expect((await get(`/inbox/script/${name}`)).status, name).toBe(404);
});

test('tells an open page of every change, and of those it has missed', async () => {
  const { server, url, get, post, remove, errors } = await startSandbox({ delayMs: 60_000 });
  const version = /data-version="([^"]+)"/.exec((await get('/')).text)?.[1] ?? '';
  const { MessageID } = await server.sendEmail(message());
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const reply = await fetch(`${url}/inbox/changes?since=${version}`, { signal: leave.signal });
  expect(reply.headers.get('content-type')).toContain('text/event-stream');
  const told: string[] = [];
  void (async () => {
    for await (const chunk of reply.body ?? [])
      for (const [, id = ''] of Buffer.from(chunk)
        .toString()
        .matchAll(/^data: (.+)$/gm))
        told.push(id);
  })().catch(() => undefined);
  await expect.poll(() => told).toHaveLength(1);
  const changes = [
    () => post(`/api/messages/${MessageID}/events`, { type: 'open' }),
    () => get(`/inbox/${MessageID}`),
    () => remove('/api/messages?recipient=ada@example.com'),
    () => server.sendEmail(message()),
    () => post('/inbox/read-all', ...form({})),
    () => remove('/api/messages'),
  ];
  for (const [i, change] of changes.entries()) {
    await change();
    await expect.poll(() => told).toHaveLength(i + 2);
  }
  // Reading what was read before is no change.
  await get('/');
  const again = await fetch(`${url}/inbox/changes`, {
    headers: { 'last-event-id': told.at(-1) ?? '' },
    signal: leave.signal,
  });
  const { value } = (await again.body?.getReader().read()) ?? {};
  expect(Buffer.from(value ?? []).toString()).toBe('retry: 2000\n\n');
  expect((await fetch(`${url}/inbox/changes`, { method: 'HEAD' })).status).toBe(200);
  leave.abort();
  await get('/');
  expect(errors).toEqual([]);
});

test('a message is unread until its page is opened, and mail by the API stays unread', async () => {
  const { server, get, post } = await startSandbox();
  const [one, two] = await server.sendEmailBatch([message({ Subject: 'One' }), message({ Subject: 'Two' })]);
  await get(`/api/messages/${one?.MessageID}`);
  await get('/');
  expect((await get('/')).text).toContain('2 unread · 2 messages');
  const page = (await get(`/inbox/${one?.MessageID}`)).text;
  expect(page).toContain('1 unread · 2 messages');
  expect(page).toMatch(new RegExp(`<li data-id="${two?.MessageID}" class="unread">`));
  expect(page).toMatch(new RegExp(`<li data-id="${one?.MessageID}">`));
  const answer = await post('/inbox/read-all?q=t', ...form({}));
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/?q=t']);
  expect((await get('/')).text).toContain('0 unread');
});

test('shows how to send a first email, through the service where it is known', async () => {
  const alone = await startSandbox();
  expect((await alone.get('/')).text).toContain(escapeHtml(`curl ${alone.url}/email \\`));
  const beside = await startSandbox({ serviceUrls: ['http://localhost:3000', 'http://localhost:3100'] });
  const page = (await beside.get('/')).text;
  expect(page).toContain('curl http://localhost:3000/v1/send');
  expect(page).toContain('secret key of your project');
});

test('the buttons of a message make things happen, and tell when the webhook failed', async () => {
  const { url, received } = await startReceiver((_, body) => (body.RecordType === 'Open' ? 500 : 200));
  const { server, get, post } = await startSandbox({ webhookUrl: url });
  const { MessageID } = await server.sendEmail(message());
  await expect.poll(() => received).toHaveLength(1);
  const page = (await get(`/inbox/${MessageID}`)).text;
  const buttons = [...page.matchAll(/name="type" value="(\w+)"/g)].map((match) => match[1]);
  expect(buttons).toEqual(['open', 'click', 'hardBounce', 'softBounce', 'complaint', 'unsubscribe']);

  const complaint = await post(`/inbox/${MessageID}/events`, ...form({ type: 'complaint' }));
  expect([complaint.status, complaint.headers.get('location')]).toEqual([303, `/inbox/${MessageID}?done=complaint`]);
  const after = (await get(`/inbox/${MessageID}?done=complaint`)).text;
  expect(after).toContain('Complaint: recorded.');
  expect(after).toContain('delivered: HTTP 200, 1 attempt');
  const open = await post(`/inbox/${MessageID}/events`, ...form({ type: 'open' }));
  expect((await get(open.headers.get('location') ?? '')).text).toContain('but the webhook failed');
  expect(received.map((one) => one.body.RecordType)).toEqual(['Delivery', 'SpamComplaint', 'Open']);
  expect((await post(`/inbox/${MessageID}/events`, ...form({ type: 'x' }))).status).toBe(422);
});

test('receives a mail through the form, and deletes all messages through theirs', async () => {
  const { url, received } = await startReceiver();
  const { server, get, post } = await startSandbox({ webhookUrl: url, delayMs: 60_000 });
  const mail = { from: 'Ada <ada@example.com>', to: 'support@acme.test', subject: 'Hello', text: 'Hi' };
  const answer = await post('/inbound', ...form(mail));
  expect(answer.text).toContain('Received. Webhook: HTTP 200');
  expect(received[0]?.body).toMatchObject({ Subject: 'Hello', OriginalRecipient: 'support@acme.test' });

  await server.sendEmail(message({ Subject: 'Soon gone' }));
  const deleted = await post('/inbox/delete-all', ...form({}));
  expect(deleted.headers.get('location')).toBe('/?deleted=1');
  expect((await get('/?deleted=1')).text).not.toContain('Soon gone');
});

test('refuses what a page of another origin posts, whatever the path', async () => {
  const { server, post, get, url } = await startSandbox();
  const { MessageID } = await server.sendEmail(message());
  const paths = ['/inbox/delete-all', '/api/faults', '/email', `/inbox/${MessageID}/events`, '/inbound'];
  const foreign = ['http://evil.example', 'null', url.replace(/:\d+$/, ':1'), 'http://127.0.0.1.evil.example'];
  for (const path of paths) {
    for (const origin of foreign) expect((await post(path, '', { origin })).status, `${path} ${origin}`).toBe(403);
    expect((await post(path, '', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  }
  expect((await get('/api/stats')).json()).toMatchObject({ stored: 1 });
  const [body, headers] = form({});
  expect((await post('/inbox/delete-all', body, { ...headers, origin: url })).status).toBe(303);
});

test.each([
  ['127.0.0.1', 'evil.example', 403],
  ['127.0.0.1', 'localhost.evil.example:8025', 403],
  ['127.0.0.1', 'localhost:8025', 200],
  ['127.0.0.1', '[::1]:8025', 200],
  ['127.0.0.1', 'mail.localhost', 200],
  ['0.0.0.0', 'sandbox:8025', 200],
])('listening on %s it answers a request for the host %s with %i', async (host, name, expected) => {
  const { port } = await startSandbox({ host });
  const status = await new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path: '/', headers: { host: name } }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    });
    call.on('error', reject).end();
  });
  expect(status).toBe(expected);
});

test('sends security headers with every answer, errors included', async () => {
  const { get } = await startSandbox();
  for (const path of [
    '/',
    '/inbound',
    '/inbox/style.css',
    '/inbox/script/inbox.js',
    '/inbox/nope',
    '/nope',
    '/api/stats',
    '/email',
  ]) {
    const { headers } = await get(path);
    expect(headers.get('x-content-type-options'), path).toBe('nosniff');
    expect(headers.get('x-frame-options'), path).toBe('DENY');
    expect(headers.get('content-security-policy'), path).toContain("frame-ancestors 'none'");
    expect(headers.get('access-control-allow-origin'), path).toBeNull();
  }
  expect((await get('/inbox/nope')).status).toBe(404);
  expect((await get('/nope')).json()).toMatchObject({ error: expect.any(String) });
  expect((await get('/email')).status).toBe(405);
});

test('the list and messages through the JSON API', async () => {
  const { server, get } = await startSandbox();
  await server.sendEmailBatch([
    message({ To: 'ada@example.com', Subject: 'One' }),
    message({ To: 'bob@example.com', Subject: 'Two' }),
  ]);
  const list = (await get('/api/messages?to=EXAMPLE&limit=1')).json();
  expect(list).toMatchObject({
    total: 2,
    messages: [{ subject: 'Two', to: [{ email: 'bob@example.com', name: '' }] }],
  });
  const older = (await get(`/api/messages?before=${list.messages[0].id}`)).json();
  expect(older.messages.map((one: { subject: string }) => one.subject)).toEqual(['One']);
  expect((await get('/api/messages?subject=two&to=ada')).json().total).toBe(0);
  expect((await get(`/api/messages/${list.messages[0].id}`)).json()).toMatchObject({ text: 'Hi Ada', headers: [] });
  const [full] = (await get('/api/messages?to=ada&bodies=1')).json().messages;
  expect(full).toMatchObject({ subject: 'One', text: 'Hi Ada', html: expect.stringContaining('start here') });
  expect((await get('/api/messages?limit=0')).status).toBe(422);
});
