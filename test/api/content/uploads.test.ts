import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { startS3Server } from '../../support/s3-server.ts';

const megabyte = 1024 * 1024;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const jpeg = Buffer.concat([
  Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
  Buffer.from('ffd9', 'hex'),
]);
const webp = Buffer.concat([
  Buffer.from('RIFF'),
  Buffer.from('1a000000', 'hex'),
  Buffer.from('WEBPVP8L'),
  Buffer.alloc(16),
]);
const script = '<script>alert(document.domain)</script>';

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fernpost-uploads-'));
  database = await testDatabase();
  api = await testApi(database, { UPLOAD_DIR: folder });
  project = await aProject(database);
});
afterAll(async () => {
  await api.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Image {
  content: string | Buffer;
  type?: string;
  name?: string;
  part?: string;
}

async function upload(through: TestApi, images: Image[], own: TestProject = project) {
  const form = new FormData();
  form.set('comment', 'other parts are passed over');
  for (const { content, type = 'image/png', name = 'logo.png', part = 'image' } of images)
    form.append(part, new Blob([content as string | Buffer<ArrayBuffer>], { type }), name);
  const answer = await fetch(`${through.url}/uploads/image`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${own.secretKey}` },
    body: form,
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, string | number> };
}
const kept = () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

describe('an image on the local disk', () => {
  test.each([
    ['PNG', png, 'image/png', 'png'],
    ['GIF', gif, 'image/gif', 'gif'],
    ['JPEG', jpeg, 'image/jpeg', 'jpg'],
    ['JPEG by its older name', jpeg, 'image/jpg', 'jpg'],
    ['WebP', webp, 'image/webp', 'webp'],
  ])(
    '%s gets an address that never changes, with the headers that keep it an image',
    async (_, content, type, extension) => {
      const { status, body } = await upload(api, [{ content, type, name: 'heron.bin' }]);
      expect(status).toBe(200);
      expect(body).toEqual({
        url: `${api.config.API_URI}/uploads/files/${body.key}`,
        key: expect.stringMatching(new RegExp(`^${project.id}/\\d{13}-[0-9a-f]{16}\\.${extension}$`)),
        filename: 'heron.bin',
        contentType: type.replace('jpg', 'jpeg'),
        size: content.length,
      });
      const served = await fetch(`${api.url}/uploads/files/${body.key}`, {
        headers: { Origin: 'https://mail.example' },
      });
      expect(Buffer.from(await served.arrayBuffer())).toEqual(content);
      expect(Object.fromEntries(served.headers)).toMatchObject({
        'content-type': body.contentType,
        'content-length': String(content.length),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': 'public, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'cross-origin',
      });
      const head = await fetch(`${api.url}/uploads/files/${body.key}`, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length')]).toEqual([200, String(content.length)]);
    },
  );

  test('of exactly 10 MB is taken, and one byte more is not', async () => {
    const largest = Buffer.concat([png, Buffer.alloc(10 * megabyte - png.length)]);
    expect((await upload(api, [{ content: largest }])).body.size).toBe(10 * megabyte);
    const before = kept().length;
    const refused = await upload(api, [{ content: Buffer.concat([largest, Buffer.alloc(1)]) }]);
    expect([refused.status, refused.body]).toEqual([413, { error: 'The image is larger than 10 MB' }]);
    expect(kept()).toHaveLength(before);
  });

  test('keeps nothing of a name that wants to be a path', async () => {
    const { body } = await upload(api, [{ content: png, name: '../../../../etc/passwd\r\nX: y.html' }]);
    expect(body.key).toMatch(new RegExp(`^${project.id}/\\d{13}-[0-9a-f]{16}\\.png$`));
    expect(String(body.filename)).not.toMatch(/\p{Cc}/u);
    const long = await upload(api, [{ content: png, name: `${'a'.repeat(400)}.png` }]);
    expect(String(long.body.filename)).toHaveLength(255);
  });
});

describe('refusals leave nothing behind', () => {
  test.each<[string, Image[], string]>([
    ['a PNG that is a script', [{ content: script }], 'bytes'],
    ['a script after the first bytes of nothing', [{ content: `\u0089PNG${script}` }], 'bytes'],
    ['a PNG that calls itself a GIF', [{ content: png, type: 'image/gif' }], 'bytes'],
    ['a GIF without its version', [{ content: `GIF${script}`, type: 'image/gif' }], 'bytes'],
    [
      'a RIFF that is no WebP',
      [{ content: Buffer.concat([Buffer.from('RIFF1234WAVEfmt '), Buffer.alloc(20)]), type: 'image/webp' }],
      'bytes',
    ],
    [
      'an SVG',
      [{ content: `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`, type: 'image/svg+xml', name: 'logo.svg' }],
      'not taken',
    ],
    [
      'an SVG that calls itself a PNG',
      [{ content: `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>` }],
      'bytes',
    ],
    ['a page', [{ content: script, type: 'text/html', name: 'logo.png' }], 'not taken'],
    ['an empty file', [{ content: '' }], 'bytes'],
    ['no file', [], 'no file'],
    ['a file under another name', [{ content: png, part: 'file' }], 'no file'],
    ['two files', [{ content: png }, { content: png }], 'exactly one'],
  ])('%s is 400', async (_, images, words) => {
    const before = kept().length;
    const { status, body } = await upload(api, images);
    expect([status, Object.keys(body)]).toEqual([400, ['error']]);
    expect(body.error).toContain(words);
    expect(kept()).toHaveLength(before);
  });

  test('a body that is no multipart', async () => {
    const answer = await api.call(project.secretKey, 'POST', '/uploads/image', { image: 'x' });
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
    const broken = await api.call(project.secretKey, 'POST', '/uploads/image', 'x', {
      'Content-Type': 'multipart/form-data',
    });
    expect(broken.status).toBe(400);
  });

  test('an upload that breaks off', async () => {
    const before = kept().length;
    const broken = request(`${api.url}/uploads/image`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${project.secretKey}`,
        'Content-Type': 'multipart/form-data; boundary=x',
        'Content-Length': 5 * megabyte,
      },
    });
    broken.on('error', () => undefined);
    broken.write(
      '--x\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n',
    );
    broken.write(Buffer.concat([png, Buffer.alloc(megabyte)]));
    await expect.poll(() => kept().length).toBe(before + 1);
    broken.destroy();
    await expect.poll(() => kept().length).toBe(before);
  });

  test('nobody but a key or a session uploads', async () => {
    const answer = await fetch(`${api.url}/uploads/image`, { method: 'POST', body: new FormData() });
    expect(answer.status).toBe(401);
  });

  test.each([
    'x/1772359331000-9f86d081884c7d65.png',
    '%2e%2e/1772359331000-9f86d081884c7d65.png',
    '7f3a0000-0000-7000-8000-000000000000/..%2f..%2fsecret.png',
    '7f3a0000-0000-7000-8000-000000000000/1772359331000-9f86d081884c7d65.html',
    '7f3a0000-0000-7000-8000-000000000000/1772359331000-9f86d081884c7d65.png',
  ])('the address %s is none', async (key) => {
    writeFileSync(join(folder, 'secret.png'), png);
    // What climbs out of the folder names another route, which has no GET.
    expect((await fetch(`${api.url}/uploads/files/${key}`)).status).toBe(key.startsWith('%2e') ? 405 : 404);
  });

  test('a storage that cannot be used is 503', async () => {
    const file = join(folder, 'not-a-folder');
    writeFileSync(file, '');
    await using broken = await testApi(database, { UPLOAD_DIR: join(file, 'below') });
    const { status, body } = await upload(broken, [{ content: png }]);
    expect([status, Object.keys(body)]).toEqual([503, ['error']]);
  });
});

describe('the list of images', () => {
  const call = (own: TestProject, method: string, path: string) => api.call(own.secretKey, method, path);

  test('has each image once, newest first, through pages of any size, and none of another project', async () => {
    const own = await aProject(database, 'Vogelwarte');
    const sent: unknown[] = [];
    for (const name of ['reiher.png', 'möwe 🐦.png', 'نورس.png', '鷺.png', 'eule.png'])
      sent.unshift((await upload(api, [{ content: png, name }], own)).body);
    for (const limit of [1, 2, 5, 100]) {
      const listed: Record<string, unknown>[] = [];
      for (let cursor = ''; ; ) {
        const { status, body } = await call(own, 'GET', `/uploads?limit=${limit}${cursor}`);
        expect(status).toBe(200);
        expect(body.images.length).toBeLessThanOrEqual(limit);
        listed.push(...body.images);
        if (body.nextCursor === null) break;
        cursor = `&cursor=${body.nextCursor}`;
      }
      expect(listed.map(({ id: _, createdAt: __, ...image }) => image)).toEqual(sent);
      expect(listed[0]).toMatchObject({ id: expect.any(String), createdAt: expect.stringMatching(/Z$/) });
    }
    expect((await call(await aProject(database, 'Other'), 'GET', '/uploads')).body).toEqual({
      images: [],
      nextCursor: null,
    });
  });

  test.each(['nonsense', 'WyJ4Il0'])('a cursor of "%s" is 400', async (cursor) => {
    const { status, body } = await call(project, 'GET', `/uploads?cursor=${cursor}`);
    expect([status, body.error.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('names the templates and campaigns that show an image', async () => {
    const own = await aProject(database, 'Vogelwarte');
    const image = (await upload(api, [{ content: png }], own)).body;
    const shown = `<p>Moin</p><img src="${image.url}" alt="Reiher">`;
    const template = { subject: 'Moin', from: own.sender, type: 'MARKETING' };
    await api.call(own.secretKey, 'POST', '/templates', { ...template, name: 'With', body: shown });
    await api.call(own.secretKey, 'POST', '/templates', { ...template, name: 'Without', body: '<p>Moin</p>' });
    await api.call(own.secretKey, 'POST', '/campaigns', {
      name: 'Herons',
      subject: 'Moin',
      body: shown,
      from: own.sender,
      audienceType: 'ALL',
    });
    const [{ id }] = (await call(own, 'GET', '/uploads')).body.images;
    expect((await call(own, 'GET', `/uploads/${id}/usage`)).body).toMatchObject({
      templates: [{ id: expect.any(String), name: 'With' }],
      campaigns: [{ id: expect.any(String), name: 'Herons', status: 'DRAFT' }],
    });
  });

  test('a deleted image is neither listed nor served nor on the disk, and the others stay', async () => {
    const own = await aProject(database, 'Vogelwarte');
    const [gone, stays] = [
      (await upload(api, [{ content: png }], own)).body,
      (await upload(api, [{ content: gif, type: 'image/gif' }], own)).body,
    ];
    const [, { id }] = (await call(own, 'GET', '/uploads')).body.images;
    const before = kept().length;
    expect((await call(own, 'DELETE', `/uploads/${id}`)).status).toBe(204);
    expect(kept()).toHaveLength(before - 1);
    expect((await fetch(`${api.url}/uploads/files/${gone.key}`)).status).toBe(404);
    expect((await fetch(`${api.url}/uploads/files/${stays.key}`)).status).toBe(200);
    expect((await call(own, 'GET', '/uploads')).body.images).toMatchObject([{ key: stays.key }]);
    expect((await call(own, 'DELETE', `/uploads/${id}`)).body.error.code).toBe('RESOURCE_NOT_FOUND');
  });

  test('an image whose file is gone already can be deleted from the list', async () => {
    const own = await aProject(database, 'Vogelwarte');
    const { key } = (await upload(api, [{ content: png }], own)).body;
    rmSync(join(folder, String(key)));
    const [{ id }] = (await call(own, 'GET', '/uploads')).body.images;
    expect((await call(own, 'DELETE', `/uploads/${id}`)).status).toBe(204);
    expect((await call(own, 'GET', '/uploads')).body.images).toEqual([]);
  });

  test('an upload that cannot be noted in the list is refused, and its file goes again', async () => {
    const before = kept().length;
    const own = await aProject(database, 'Vogelwarte');
    await database.db.rows(
      `create function refuse_upload() returns trigger language plpgsql as $fn$ begin raise exception 'no'; end $fn$`,
    );
    await database.db.rows(
      'create trigger refused before insert on uploads for each row execute function refuse_upload()',
    );
    try {
      expect((await upload(api, [{ content: png }], own)).status).toBe(500);
      expect(kept()).toHaveLength(before);
    } finally {
      await database.db.rows('drop function refuse_upload cascade');
    }
  });
});

describe('an image in an S3-compatible store', () => {
  test('goes into a bucket that is made for everybody to read', async () => {
    await using store = await startS3Server('key-1');
    await using api = await testApi(database, {
      S3_ENDPOINT: store.url,
      S3_ACCESS_KEY_ID: 'key-1',
      S3_ACCESS_KEY_SECRET: 'secret-1',
      S3_BUCKET: 'images',
      S3_PUBLIC_URL: 'https://images.acme.example/',
    });
    await expect.poll(() => store.policies.get('images')).toContain('arn:aws:s3:::images/*');
    const { status, body } = await upload(api, [{ content: png }]);
    expect([status, body.url]).toEqual([200, `https://images.acme.example/${body.key}`]);
    const object = store.objects.get(`/images/${body.key}`);
    expect(object?.bytes).toEqual(png);
    expect(object?.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect(readdirSync(join(tmpdir(), 'fernpost-incoming'))).toEqual([]);
    expect((await fetch(`${api.url}/uploads/files/${body.key}`)).status).toBe(404);

    const listed = (await api.call(project.secretKey, 'GET', '/uploads?limit=1')).body.images[0];
    expect(listed).toMatchObject({ key: body.key, url: body.url });
    store.trouble = 403;
    const refused = await api.call(project.secretKey, 'DELETE', `/uploads/${listed.id}`);
    expect([refused.status, refused.body.error.code]).toEqual([503, 'EXTERNAL_SERVICE_ERROR']);
    store.trouble = null;
    expect((await api.call(project.secretKey, 'GET', '/uploads?limit=1')).body.images[0]).toEqual(listed);
    expect((await api.call(project.secretKey, 'DELETE', `/uploads/${listed.id}`)).status).toBe(204);
    expect(store.objects.has(`/images/${body.key}`)).toBe(false);

    store.buckets.clear();
    expect((await upload(api, [{ content: png }])).status).toBe(503);
    store.trouble = 400;
    expect((await upload(api, [{ content: png }])).status).toBe(500);
  });

  test('with another key is refused by the store, and the caller hears 503', async () => {
    await using store = await startS3Server('key-1');
    await using api = await testApi(database, {
      S3_ENDPOINT: store.url,
      S3_ACCESS_KEY_ID: 'key-2',
      S3_ACCESS_KEY_SECRET: 'secret-1',
      S3_PUBLIC_URL: 'https://images.acme.example',
    });
    expect((await upload(api, [{ content: png }])).status).toBe(503);
  });
});
