import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { families } from '../../../dashboard/src/pages/mail/starters/index.ts';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database);
  project = await aProject(database);
});
afterAll(async () => {
  await api?.close();
  await database?.close();
});

const call = (method: string, path: string, body?: object) => api.call(project.secretKey, method, path, body);
const dataOf = (body: { data?: Record<string, unknown> }): Record<string, unknown> => body.data ?? body;
const text = (value: string) => ({
  type: 'paragraph',
  attrs: { align: 'left' },
  content: [{ type: 'text', text: value }],
});
const documentOf = (...content: object[]) => ({ version: 1, preheader: 'Behind the subject', content });
const fields = () => ({ name: 'Herons', subject: 'Herons', from: project.sender });

describe.each([
  { path: '/templates', method: 'PATCH', own: {} },
  { path: '/campaigns', method: 'PUT', own: { audienceType: 'ALL' } },
])('content of $path written as blocks', ({ path, method, own }) => {
  const create = (content: object) => call('POST', path, { ...fields(), ...own, ...content });

  test.each(families.flatMap(({ starters }) => starters))(
    '$name comes back as it was, with the HTML that is sent',
    async ({ document }) => {
      const created = await create({ document });
      expect(created.status).toBe(201);
      const { id, ...stored } = dataOf(created.body);
      expect(stored.document).toEqual(document);
      expect(stored.body).toContain('<table role="presentation"');
      expect(dataOf((await call('GET', `${path}/${id}`)).body).document).toEqual(document);
    },
  );

  test('is compiled again when it changes, becomes HTML when HTML is written, and is copied with its source', async () => {
    const { id } = dataOf((await create({ document: documentOf(text('First')) })).body);
    const edit = async (content: object) => dataOf((await call(method, `${path}/${id}`, content)).body);
    const second = await edit({ document: documentOf(text('Second')) });
    expect([second.body, second.revision]).toEqual([expect.stringContaining('>Second</p>'), 2]);
    expect((await edit({ name: 'Renamed' })).document).toEqual(documentOf(text('Second')));
    const copy = dataOf((await call('POST', `${path}/${id}/duplicate`)).body);
    expect([copy.document, copy.body]).toEqual([documentOf(text('Second')), second.body]);
    const kept = await edit({ document: null });
    expect([kept.document, kept.body]).toEqual([null, second.body]);
    const html = await edit({ document: documentOf(text('Third')) }).then(() => edit({ body: '<p>Own</p>' }));
    expect([html.document, html.body]).toEqual([null, '<p>Own</p>']);
  });

  test.each([
    ['an unknown block', { document: documentOf({ type: 'iframe' }) }, 400],
    [
      'a link that runs a script',
      { document: documentOf({ type: 'button', attrs: { label: 'x', href: 'javascript:x' } }) },
      400,
    ],
    ['Liquid that does not parse', { document: documentOf(text('{% if %}')) }, 400],
    ['a document beside a body', { document: documentOf(text('x')), body: '<p>x</p>' }, 400],
    ['a document that is no object', { document: 'x' }, 422],
    ['neither a document nor a body', {}, path === '/templates' ? 400 : 422],
  ])('is refused with %s', async (_, content, status) => {
    const answer = await create(content);
    expect(answer.status).toBe(status);
  });
});

test('a missing body is named beside the other fields that are missing', async () => {
  const { body } = await call('POST', '/campaigns', { name: 'x' });
  expect(body.error.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`)).toEqual(
    expect.arrayContaining(['subject invalid_type', 'body invalid_type', 'from invalid_type']),
  );
});

test('a new brand kit is followed by templates and unsent campaigns, and by no HTML and no sent campaign', async () => {
  const template = (await call('POST', '/templates', { ...fields(), document: documentOf(text('T')) })).body;
  const html = (await call('POST', '/templates', { ...fields(), body: '<p>Own</p>' })).body;
  const campaigns = await Promise.all(
    ['draft', 'sent'].map(async () => {
      const { body } = await call('POST', '/campaigns', {
        ...fields(),
        audienceType: 'ALL',
        document: documentOf(text('C')),
      });
      return body.data as { id: string; body: string };
    }),
  );
  const [draft, sent] = campaigns;
  await database.db.count(`update campaigns set status = 'SENT', sent_at = now() where id = $1`, [sent?.id]);
  expect((await call('GET', '/brand')).body).toMatchObject({ logoUrl: null, font: 'System' });

  const kit = { primaryColor: '#0b5fab', footer: 'Acme {{ email }}', postalAddress: '1 Main Street', font: 'Georgia' };
  const put = await call('PUT', '/brand', kit);
  expect([put.status, put.body]).toEqual([200, expect.objectContaining({ ...kit, textColor: '#1f2937' })]);
  expect((await call('GET', '/brand')).body).toEqual(put.body);

  const bodyOf = async (path: string) => dataOf((await call('GET', path)).body);
  expect(await bodyOf(`/templates/${template.id}`)).toMatchObject({
    body: expect.stringContaining('1 Main Street'),
    revision: 2,
  });
  expect((await bodyOf(`/campaigns/${draft?.id}`)).body).toContain('Acme {{ email }}');
  expect((await bodyOf(`/campaigns/${sent?.id}`)).body).toBe(sent?.body);
  expect(await bodyOf(`/templates/${html.id}`)).toMatchObject({ body: '<p>Own</p>', revision: 1 });

  const other = await aProject(database);
  expect((await api.call(other.secretKey, 'GET', '/brand')).body.footer).toBe('');
  for (const wrong of [{ primaryColor: 'red' }, { logoUrl: 'javascript:x' }, { footer: '{% if %}' }])
    expect((await call('PUT', '/brand', wrong)).status).toBeGreaterThanOrEqual(400);
  expect((await call('GET', '/brand')).body).toEqual(put.body);
});

test('mail sent with a template of blocks is the compiled HTML with the values of its recipient', async () => {
  const content = [{ type: 'variable', attrs: { name: 'firstName', fallback: 'there' } }];
  const template = await call('POST', '/templates', {
    ...fields(),
    type: 'TRANSACTIONAL',
    document: documentOf({ type: 'paragraph', content }),
  });
  const { body } = await call('POST', '/templates/preview', {
    subject: 'x',
    body: template.body.body,
    data: { firstName: 'Ada' },
  });
  expect(body.html).toMatch(/<p class="ph-text"[^>]*>Ada<\/p>/);
  expect(body.text).toContain('Ada');
});

test('social links are sent as icons that anybody can load', async () => {
  const social = { type: 'social', attrs: { links: [{ network: 'LinkedIn', href: 'https://acme.test/in' }] } };
  const { body } = await call('POST', '/templates', { ...fields(), document: documentOf(social) });
  const [, address = ''] = /<img src="([^"]+)" alt="LinkedIn"/.exec(body.body) ?? [];
  expect(address).toMatch(/\/brand\/icons\/linkedin\.png$/);
  const icon = await fetch(`${api.url}${new URL(address).pathname}`);
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/png']);
  expect(icon.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  expect((await fetch(`${api.url}/brand/icons/..%2Fpackage.json`)).status).toBe(404);
});

test('blocks are saved under a name, renamed, replaced and deleted, and blocks that are none are refused', async () => {
  const content = [text('Your friends at Acme')];
  const created = await call('POST', '/blocks', { name: ' Signature ', content });
  expect([created.status, created.body]).toEqual([201, expect.objectContaining({ name: 'Signature', content })]);
  expect((await call('POST', '/blocks', { name: 'Signature', content })).status).toBe(409);
  const { id } = created.body;
  expect((await call('PATCH', `/blocks/${id}`, { name: 'Signature' })).status).toBe(200);
  const changed = await call('PATCH', `/blocks/${id}`, { name: 'Team', content: [{ type: 'divider' }] });
  expect(changed.body).toMatchObject({ name: 'Team', content: [{ type: 'divider' }] });
  expect((await call('GET', '/blocks')).body.data).toEqual([expect.objectContaining({ id, name: 'Team' })]);
  const refused = await call('POST', '/blocks', { name: 'Bad', content: [{ type: 'iframe' }] });
  expect([refused.status, refused.body.details?.field ?? refused.body.error?.details?.field]).toEqual([
    400,
    'content.0.type',
  ]);
  expect((await call('POST', '/blocks', { name: 'Bad', content: [text('{% if x %}')] })).status).toBe(400);
  expect((await call('DELETE', `/blocks/${id}`)).status).toBe(204);
  expect((await call('DELETE', `/blocks/${id}`)).status).toBe(404);
  const log = await call('GET', `/projects/${project.id}/audit-log?target=${id}`);
  expect(log.body.data.map(({ action }: { action: string }) => action)).toEqual([
    'block.deleted',
    'block.updated',
    'block.updated',
    'block.created',
  ]);
});

test('of two who save the same name at the same moment one is refused', async () => {
  const save = () => call('POST', '/blocks', { name: 'Twice', content: [text('Twice')] });
  const answers = await Promise.all([save(), save(), save()]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
});
