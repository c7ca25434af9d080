import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { removeOldVisits } from '../../../src/feedback/recipients/public-service.ts';
import { newId } from '../../../src/lib/ids.ts';
import { languages, textsIn } from '../../../src/lib/texts/pages.ts';
import { linkToken } from '../../../src/templates/content/links.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aCampaignMail, flipsOf, optOutsOf } from '../../support/recipients.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let id: string;
let t: string;
let visitor = 0;

const address = "8.nikhil.o'neill@posta.example";

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { TRUST_PROXY: '1' });
});
beforeEach(async () => {
  project = await aProject(database, 'Birds & <b>Bees</b>');
  ({ id, t } = await aContact(address));
  visitor += 1;
});
afterAll(async () => {
  await api.close();
  await database.close();
});

async function aContact(email: string, data: Record<string, unknown> = {}) {
  const { body } = await api.call(project.secretKey, 'POST', '/contacts', { email, data });
  return { id: body.id as string, t: linkToken(body.id, api.config.LINK_SECRET) };
}

/** Asks as a browser behind a proxy does; each test is a visitor of its own. */
function ask(method: string, path: string, form?: Record<string, string>, headers: Record<string, string> = {}) {
  return fetch(`${api.url}${path}`, {
    method,
    redirect: 'manual',
    headers: { 'X-Forwarded-For': `203.0.113.${visitor}`, ...headers },
    ...(form ? { body: new URLSearchParams(form) } : {}),
  });
}
const textOf = async (path: string, headers?: Record<string, string>) =>
  (await ask('GET', path, undefined, headers)).text();
const subscribed = async () => (await api.call(project.secretKey, 'GET', `/contacts/${id}`)).body.subscribed as boolean;

describe('a link from a mail', () => {
  test('opens the page that asks, names project and address, and changes nothing however often it is opened', async () => {
    for (const page of ['unsubscribe', 'subscribe', 'manage']) {
      const answer = await ask('GET', `/${page}/${id}?t=${t}`);
      const html = await answer.text();
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(html).toContain('8.nikhil.o&#39;neill@posta.example');
      expect(html).toContain('Birds &amp; &lt;b&gt;Bees&lt;/b&gt;');
      expect(html).not.toContain('<b>');
    }
    expect((await ask('HEAD', `/unsubscribe/${id}?t=${t}`)).status).toBe(200);
    expect([await subscribed(), await flipsOf(database, id)]).toEqual([true, []]);
  });

  test('unsubscribes by its form without JavaScript, takes it back, and blames its mail once', async () => {
    const { mail, campaign } = await aCampaignMail(database, project.id, id);
    const query = `e=${mail}&t=${t}`;
    expect(await textOf(`/unsubscribe/${id}?${query}`)).toContain(
      `<form method="post" action="/manage/${id}?e=${mail}&amp;t=${t}">`,
    );
    const left = await ask('POST', `/manage/${id}?${query}`, { action: 'unsubscribe', page: 'unsubscribe' });
    expect([left.status, left.headers.get('location')]).toEqual([303, `/unsubscribe/${id}?${query}`]);
    expect(await textOf(`/unsubscribe/${id}?${query}`)).toContain('You have been unsubscribed');
    expect(await subscribed()).toBe(false);

    const back = await ask('POST', `/manage/${id}?${query}`, { action: 'subscribe', page: 'unsubscribe' });
    expect(back.headers.get('location')).toBe(`/subscribe/${id}?${query}`);
    expect(await textOf(`/subscribe/${id}?${query}`)).toContain('You are subscribed');
    expect(await subscribed()).toBe(true);

    const again = await ask('POST', `/manage/${id}?${query}`, { action: 'unsubscribe', page: 'manage' });
    expect(again.headers.get('location')).toBe(`/manage/${id}?${query}`);
    await ask('POST', `/manage/${id}?${query}`, { action: 'unsubscribe', page: 'manage' });
    expect(await flipsOf(database, id)).toEqual([
      { name: 'contact.unsubscribed', mail },
      { name: 'contact.subscribed', mail },
      { name: 'contact.unsubscribed', mail },
    ]);
    expect(await optOutsOf(database, campaign)).toBe(1);
  });

  test('carries nothing into its page but itself: no script, no foreign address, a policy that allows one style sheet', async () => {
    const answer = await ask('GET', `/manage/${id}?t=${t}&x="><script>alert(1)</script>`);
    const html = await answer.text();
    expect(html).not.toContain('script');
    expect(html).not.toMatch(/https?:\/\//);
    const policy = answer.headers.get('content-security-policy');
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('x-robots-tag')).toContain('noindex');
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(Buffer.byteLength(html)).toBeLessThan(6_000);
  });

  test('works on a disabled project', async () => {
    await database.db.count(`update projects set disabled = true where id = $1`, [project.id]);
    expect((await ask('GET', `/unsubscribe/${id}?t=${t}`)).status).toBe(200);
    expect((await ask('POST', `/manage/${id}?t=${t}`, { action: 'unsubscribe' })).status).toBe(303);
    expect((await flipsOf(database, id)).length).toBe(1);
  });

  test('of which another parameter came twice still opens its page', async () => {
    expect((await ask('GET', `/unsubscribe/${id}?t=${t}&e=a&e=b&utm_source=x`)).status).toBe(200);
  });
});

describe('a link that is not one of ours', () => {
  test('gets one answer, whether the id is of somebody or of nobody, and tells nothing', async () => {
    const nobody = newId();
    for (const page of ['unsubscribe', 'subscribe', 'manage']) {
      const answers = await Promise.all(
        [
          `${id}`,
          `${id}?t=`,
          `${id}?t=${linkToken(newId(), api.config.LINK_SECRET)}`,
          nobody,
          `${nobody}?t=${linkToken(nobody, api.config.LINK_SECRET)}`,
        ].map(async (link) => {
          const answer = await ask('GET', `/${page}/${link}`);
          return { status: answer.status, html: (await answer.text()).replaceAll(id, 'ID').replaceAll(nobody, 'ID') };
        }),
      );
      expect(answers[0]?.status).toBe(404);
      expect(new Set(answers.map(({ status, html }) => `${status} ${html}`)).size).toBe(1);
      expect(answers[0]?.html).not.toContain('posta.example');
      expect(answers[0]?.html).not.toContain('Birds');
    }
    const malformed = await ask('GET', '/unsubscribe/not-an-id');
    expect([malformed.status, (await malformed.text()).includes('<form')]).toEqual([404, false]);
  });

  test('still unsubscribes, with the same answer for an id of nobody', async () => {
    const { mail } = await aCampaignMail(database, project.id, id);
    const answers = await Promise.all(
      [`${id}?e=${mail}&t=wrong`, newId(), 'not-an-id'].map((link) =>
        ask('POST', `/manage/${link}`, { action: 'unsubscribe', page: 'unsubscribe' }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1);
    expect(await flipsOf(database, id)).toEqual([{ name: 'contact.unsubscribed', mail }]);
  });

  test('never subscribes', async () => {
    await ask('POST', `/manage/${id}?t=${t}`, { action: 'unsubscribe' });
    // The last character of a token carries bits that do not count.
    const forged = `${t.startsWith('A') ? 'B' : 'A'}${t.slice(1)}`;
    for (const query of ['', '?t=', '?t=wrong', `?t=${forged}`, `?t=${t}&t=${t}`]) {
      const answer = await ask('POST', `/manage/${id}${query}`, { action: 'subscribe', page: 'manage' });
      expect([answer.status, (await answer.text()).includes('<form')]).toEqual([404, false]);
    }
    expect(await subscribed()).toBe(false);
  });

  test('is accepted for everything where RECIPIENT_LINKS_UNSIGNED says so', async () => {
    const lenient = await testApi(database, { RECIPIENT_LINKS_UNSIGNED: 'true' });
    try {
      expect(await (await fetch(`${lenient.url}/manage/${id}`)).text()).toContain('posta.example');
      await lenient.call(null, 'POST', `/contacts/public/${id}/unsubscribe`);
      expect((await lenient.call(null, 'POST', `/contacts/public/${id}/subscribe`)).body).toMatchObject({
        email: address,
        subscribed: true,
      });
    } finally {
      await lenient.close();
    }
  });
});

describe('the one-click POST of RFC 8058', () => {
  test.each([
    ['the form of the standard', { body: 'List-Unsubscribe=One-Click', type: 'application/x-www-form-urlencoded' }],
    [
      'a multipart form',
      {
        body: '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
        type: 'multipart/form-data; boundary=x',
      },
    ],
    ['no body', { body: null, type: null }],
    ['any other body', { body: '{"a":', type: 'application/json' }],
  ])('unsubscribes with %s, once', async (_, { body, type }) => {
    const { mail, campaign } = await aCampaignMail(database, project.id, id);
    const post = () =>
      fetch(`${api.url}/unsubscribe/${id}?e=${mail}&t=${t}`, {
        method: 'POST',
        redirect: 'error',
        ...(body === null ? {} : { body, headers: { 'Content-Type': type ?? '' } }),
      });
    for (const answer of [await post(), await post()]) {
      expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
        200,
        'text/plain; charset=utf-8',
        'Unsubscribed',
      ]);
    }
    expect(await flipsOf(database, id)).toEqual([{ name: 'contact.unsubscribed', mail }]);
    expect(await optOutsOf(database, campaign)).toBe(1);
  });

  test('answers ids of nobody alike', async () => {
    for (const unknown of [newId(), 'not-an-id', id.toUpperCase().replace(/^./, 'g')]) {
      const answer = await ask('POST', `/unsubscribe/${unknown}`);
      expect([answer.status, await answer.text()]).toEqual([200, 'Unsubscribed']);
    }
    expect(await flipsOf(database, id)).toEqual([]);
  });

  test('is never limited', async () => {
    for (let i = 0; i < 70; i += 1) expect((await ask('POST', `/unsubscribe/${newId()}`)).status).toBe(200);
  });
});

describe('limits', () => {
  // A minute that begins now, in which a test cannot be too slow to make the requests one by one.
  async function visited(times: number): Promise<void> {
    const changed = await database.db.count(
      'update recipient_visits set used = $1::int, started_at = clock_timestamp() where used = 2',
      [times],
    );
    expect(changed).toBe(1);
  }

  test('a visitor may look 60 times a minute, the JSON calls included; others are not affected', async () => {
    await database.db.count('delete from recipient_visits');
    expect((await ask('GET', `/manage/${id}?t=${t}`)).status).toBe(200);
    expect((await ask('GET', `/contacts/public/${id}?t=${t}`)).status).toBe(200);
    await visited(59);
    expect((await ask('GET', `/manage/${id}?t=${t}`)).status).toBe(200);
    const refused = await ask('GET', `/manage/${id}?t=${t}`, undefined, { 'Accept-Language': 'de' });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.text()).toContain('Zu viele Anfragen');
    const json = await ask('POST', `/contacts/public/${id}/unsubscribe`);
    expect([json.status, ((await json.json()) as { error: { code: string } }).error.code]).toEqual([
      429,
      'RATE_LIMIT_EXCEEDED',
    ]);
    expect((await ask('POST', `/manage/${id}?t=${t}`, { action: 'unsubscribe' })).status).toBe(429);
    expect(await subscribed()).toBe(true);
    visitor += 1;
    expect((await ask('GET', `/manage/${id}?t=${t}`)).status).toBe(200);
  });

  test('addresses of one IPv6 network are one visitor', async () => {
    const from = (host: number) =>
      ask('GET', `/manage/${id}?t=${t}`, undefined, {
        'X-Forwarded-For': `2001:db8:0:${visitor}::${host.toString(16)}`,
      });
    await database.db.count('delete from recipient_visits');
    for (const host of [1, 2]) expect((await from(host)).status).toBe(200);
    await visited(59);
    expect((await from(60)).status).toBe(200);
    expect((await from(61)).status).toBe(429);
  });

  test('what is known of visitors is no address, and goes when their minute is over', async () => {
    // Those of earlier tests may be older than a minute.
    await database.db.count('delete from recipient_visits');
    await ask('GET', `/manage/${id}?t=${t}`);
    const rows = await database.db.rows<{ visitor: string }>('select visitor from recipient_visits');
    expect(rows).toHaveLength(1);
    for (const row of rows) expect(row.visitor).toMatch(/^[\w-]{22}$/);
    expect(await removeOldVisits(database.db, 1000)).toBe(0);
    await database.db.count(`update recipient_visits set started_at = now() - interval '2 minutes'`);
    expect(await removeOldVisits(database.db, 1000)).toBe(rows.length);
  });

  test('a form that is too large or asks for nothing known is refused on a page', async () => {
    const large = await ask('POST', `/manage/${id}?t=${t}`, { action: 'unsubscribe', page: 'x'.repeat(5000) });
    expect(large.status).toBe(413);
    const unknown = await ask('POST', `/manage/${id}?t=${t}`, { action: 'delete' });
    expect([unknown.status, (await unknown.text()).includes('Nothing was changed')]).toEqual([422, true]);
    expect(await subscribed()).toBe(true);
  });
});

describe('languages', () => {
  test.each(languages)('a contact whose locale is %s reads every page in it', async (language) => {
    const own = await aContact(`reader@${language.toLowerCase()}.example`, { locale: language });
    const texts = textsIn(language);
    const html = await textOf(`/unsubscribe/${own.id}?t=${own.t}`, { 'Accept-Language': 'en' });
    expect(html).toContain(`<html lang="${language}" dir="ltr">`);
    expect(html).toContain(`<h1>${texts.unsubscribe.title.replaceAll("'", '&#39;')}</h1>`);
    expect(html).not.toMatch(/\{\w+\}/);
    expect(await textOf(`/manage/${own.id}?t=${own.t}`)).toContain(`>${texts.unsubscribe.button}</button>`);
  });

  test('no language lacks a text or a place for its values, and none was left in English', () => {
    const flat = (value: object): [string, string][] =>
      Object.entries(value).flatMap(([key, inner]) =>
        typeof inner === 'string'
          ? [[key, inner] as [string, string]]
          : flat(inner).map(([name, text]) => [`${key}.${name}`, text] as [string, string]),
      );
    const english = new Map(flat(textsIn('en')));
    const placesOf = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();
    for (const language of languages) {
      const own = new Map(flat(textsIn(language)));
      expect([...own.keys()]).toEqual([...english.keys()]);
      for (const [key, text] of own) {
        expect(text.trim(), `${language} ${key}`).not.toBe('');
        expect(placesOf(text), `${language} ${key}`).toEqual(placesOf(english.get(key) ?? ''));
        if (language !== 'en') expect(text, `${language} ${key}`).not.toBe(english.get(key));
      }
    }
  });

  test('without a locale the project’s language speaks, and English where that is not offered', async () => {
    await database.db.count(`update projects set language = 'pt-BR' where id = $1`, [project.id]);
    expect(await textOf(`/unsubscribe/${id}?t=${t}`)).toContain('<html lang="pt"');
    await database.db.count(`update projects set language = 'sv' where id = $1`, [project.id]);
    expect(await textOf(`/unsubscribe/${id}?t=${t}`)).toContain('<html lang="en"');
  });

  test('a page that must not tell of a contact speaks the browser’s language', async () => {
    await database.db.count(`update projects set language = 'fr' where id = $1`, [project.id]);
    expect(await textOf(`/unsubscribe/${id}`, { 'Accept-Language': 'sv, cs;q=0.8, de;q=0.9, *;q=0.1' })).toContain(
      '<html lang="de"',
    );
    expect(await textOf(`/unsubscribe/${id}`, { 'Accept-Language': ';;q=x,,' })).toContain('<html lang="en"');
  });
});

test('a page that is opened under the API’s own name moves to where the pages are, with its link', async () => {
  const split = await testApi(database, {
    API_URI: 'https://api.acme.test',
    DASHBOARD_URI: 'https://mail.acme.test/people',
  });
  try {
    const url = new URL(`${split.url}/unsubscribe/${id}?t=${t}&utm_source=x`);
    const get = (host: string) =>
      new Promise<{ status: number | undefined; location: string | undefined; html: string }>((resolve, reject) => {
        request(url, { headers: { Host: host } }, (answer) => {
          let html = '';
          answer.on('data', (chunk) => {
            html += chunk;
          });
          answer.on('end', () => resolve({ status: answer.statusCode, location: answer.headers.location, html }));
        })
          .on('error', reject)
          .end();
      });
    expect(await get('api.acme.test')).toMatchObject({
      status: 302,
      location: `https://mail.acme.test/people/unsubscribe/${id}?t=${t}`,
    });
    const page = await get('mail.acme.test');
    expect([page.status, page.html.includes(`action="/people/manage/${id}?t=${t}"`)]).toEqual([200, true]);
  } finally {
    await split.close();
  }
});
