import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { audience, type Person } from './audience.ts';

/** Values of the parameters in the dashboard's addresses: one thing of each kind. */
export type Seeded = Record<
  | 'project'
  | 'contact'
  | 'template'
  | 'campaign'
  | 'segment'
  | 'workflow'
  | 'execution'
  | 'email'
  | 'endpoint'
  | 'permalink'
  | 'erasure',
  string
>;

/** Names that break layouts which were made for short ones: long, right-to-left, emoji, markup. */
export const awkwardNames = [
  `A campaign with a name of two hundred characters, ${'which somebody pasted '.repeat(10)}`.slice(0, 200),
  'عروض الربيع لأعضاء الجمعية',
  '🐦🐦 Spring 👩‍👩‍👧‍👦 <b>2026</b> "&amp;"',
];

interface Place {
  url: string;
  project: { id: string; secretKey: string; publicKey: string };
  /** An address on a verified domain of the project. */
  sender: string;
}

interface Found {
  id: string;
  status: string;
}

const template = (name: string) => readFileSync(new URL(`../data/templates/${name}.html`, import.meta.url), 'utf8');

/** Fills a project over its API as one that is in use: people of the audience file, mail that was sent, and drafts with awkward names. */
export async function seedDashboard(
  { url, project, sender }: Place,
  { drafts = awkwardNames, people = audience() }: { drafts?: readonly string[]; people?: readonly Person[] } = {},
): Promise<Seeded> {
  const call = async <Answer = Found>(
    method: string,
    path: string,
    body?: unknown,
    key = project.secretKey,
  ): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Answer;
  };
  for (const name of ['heron at low tide.png', '夜鷺 🌙.png']) {
    const form = new FormData();
    form.set('image', new Blob([plainPicture(240, 90)], { type: 'image/png' }), name);
    const headers = { Authorization: `Bearer ${project.secretKey}` };
    const { status } = await fetch(`${url}/uploads/image`, { method: 'POST', headers, body: form });
    if (status !== 200) throw new Error(`the upload of a picture was answered ${status}`);
  }
  const contacts: Found[] = [];
  for (const { email, firstName, data } of people.slice(0, 60))
    contacts.push(await call('POST', '/contacts', { email, data: { ...data, firstName } }));
  const [, first] = contacts as [Found, Found];
  for (const name of ['visit.reported', 'membership.renewed', 'guide.downloaded'])
    for (const { email } of people.slice(0, 12))
      await call(
        'POST',
        '/v1/track',
        { email, event: name, data: { station: 'Hallig Hooge', birds: 41 } },
        project.publicKey,
      );

  const segment = await call('POST', '/segments', {
    name: 'Members on the team plan',
    condition: { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'team' }] }] },
    trackMembership: true,
  });
  const mail = { from: sender, fromName: 'Vogelfreunde am Wattenmeer', type: 'MARKETING' };
  const templates: Found[] = [];
  for (const name of ['welcome', 'receipt', 'newsletter', 'trial-expiring'])
    templates.push(
      await call('POST', '/templates', {
        ...mail,
        name,
        subject: `${name} for {{firstName ?? you}}`,
        body: template(name),
      }),
    );
  const letter = {
    ...mail,
    body: '<p>Hello {{firstName ?? there}}, the counts of the spring are in.</p>',
    audienceType: 'ALL',
  };
  for (const name of drafts) await call('POST', '/campaigns', { ...letter, name, subject: name });
  const { data: campaign } = await call<{ data: Found }>('POST', '/campaigns', {
    ...letter,
    name: 'Heron count in March',
    subject: 'The herons are back',
  });
  await call('POST', `/campaigns/${campaign.id}/send`, {});
  await call('POST', '/suppressions', {
    name: 'Former members',
    kind: 'DOMAIN',
    pattern: 'former-members.example',
  });

  const receipt = {
    from: sender,
    fromName: 'Vogelfreunde am Wattenmeer',
    subject: 'Your receipt for March',
    body: '<h1>Thank you, {{firstName}}</h1><p>We received your membership fee of €36.00 for 2026.</p><p><a href="https://wattenmeer.example/receipts/A-17">Download the receipt</a></p>',
    tags: { order: 'A-17' },
  };
  const sent = await call<{ data: { emails: { email: string }[] } }>('POST', '/v1/send', {
    ...receipt,
    to: people[1]?.email,
    data: { firstName: 'Imke' },
  });
  const endpoint = await call('POST', '/webhook-endpoints', {
    url: 'https://shop.example.com/webhooks/fernpost',
    description: 'Web shop',
    events: ['email.bounce', 'email.complaint', 'contact.*'],
    from: new Date(Date.now() - 3_600_000).toISOString(),
  });
  // Nobody is called: the address is one of documentation.
  await call('PATCH', `/webhook-endpoints/${endpoint.id}`, { paused: true });
  const soon = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  for (const [place, { email }] of people.slice(2, 6).entries())
    await call('POST', '/v1/send', {
      ...receipt,
      to: email,
      subject: 'Your stay begins soon',
      scheduledFor: soon(place + 2),
    });

  const workflow = await call('POST', '/workflows', {
    name: 'Onboarding of new members',
    eventName: 'membership.begun',
  });
  const step = (type: string, name: string, y: number, config: object, more: object = {}) =>
    call('POST', `/workflows/${workflow.id}/steps`, { type, name, config, position: { x: 100, y }, ...more });
  await step('DELAY', 'Let them settle in', 260, { amount: 2, unit: 'days' });
  await step('SEND_EMAIL', 'Welcome', 420, {}, { templateId: templates[0]?.id });
  await call('PATCH', `/workflows/${workflow.id}`, { enabled: true });
  const execution = await call('POST', `/workflows/${workflow.id}/executions`, { contactId: first.id });

  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const { data } = await call<{ data: Found }>('GET', `/campaigns/${campaign.id}`);
    if (data.status === 'SENT') break;
    if (Date.now() > giveUpAt) throw new Error(`the campaign is still ${data.status}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const why = await call<{ permalink: string }>('POST', '/explain', {
    contact: first.id,
    about: { campaignId: campaign.id },
  });
  const leaver = await call('POST', '/contacts', { email: 'leaver@example.org' });
  const erasure = await call('POST', `/contacts/${leaver.id}/erase`, { reference: 'DSR-2026-041' });
  return {
    erasure: erasure.id,
    project: project.id,
    contact: first.id,
    template: templates[2]?.id ?? '',
    campaign: campaign.id,
    segment: segment.id,
    workflow: workflow.id,
    execution: execution.id,
    permalink: why.permalink,
    endpoint: endpoint.id,
    email: sent.data.emails[0]?.email ?? '',
  };
}

/** A PNG of one colour. */
export function plainPicture(width: number, height: number): Uint8Array<ArrayBuffer> {
  const chunk = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const around = Buffer.alloc(8);
    around.writeUInt32BE(data.length, 0);
    around.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([around.subarray(0, 4), named, around.subarray(4)]);
  };
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  // Eight bits for each of red, green and blue.
  size.set([8, 2], 8);
  const row = Buffer.concat([Buffer.of(0), Buffer.alloc(width * 3, Buffer.of(0xb3, 0x54, 0x1e))]);
  const rows = Buffer.concat(Array.from({ length: height }, () => row));
  return new Uint8Array(
    Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      chunk('IHDR', size),
      chunk('IDAT', deflateSync(rows)),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
}

/** An address of the dashboard and a name for it. */
export interface DashboardPlace {
  name: string;
  path: string;
}

const router = readFileSync(new URL('../../dashboard/src/router.tsx', import.meta.url), 'utf8');
const addresses = (kind: string) =>
  [...router.matchAll(new RegExp(`\\b${kind}\\(\\s*'([^']+)'`, 'g'))].map((found) => found[1] ?? '');

/** Every address outside the sign-in, from the router itself. */
export const outsidePlaces: DashboardPlace[] = addresses('auth').map((path) => ({ name: path.slice(6), path }));

/** Every address of a project, from the router itself, and the tabs of its settings. `$name` stands for an id. */
export const projectPlaces: DashboardPlace[] = [
  ...addresses('page'),
  ...['keys', 'webhooks', 'smtp', 'team', 'billing', 'uploads', 'log'].map((tab) => `/settings?tab=${tab}`),
  '/emails?tab=scheduled',
  '/campaigns/new',
  '/templates/new',
].map((path) => ({
  name:
    path === '/'
      ? 'overview'
      : path
          .slice(1)
          .replace(/\?tab=/, '-')
          .replaceAll('/$', '-one-')
          .replaceAll('/', '-'),
  path: `/app/$project${path === '/' ? '' : path}`,
}));

/** The address with the ids of what was seeded. */
export function placeOf({ path }: DashboardPlace, seeded: Seeded): string {
  return path.replace(/\$(\w+)/g, (whole, name: string) => {
    const id = (seeded as Record<string, string>)[name];
    if (!id) throw new Error(`Nothing is seeded for ${whole} of ${path}: do it in seedDashboard`);
    return id;
  });
}
