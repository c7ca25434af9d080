import { expect, test } from 'vitest';
import {
  declaredType,
  detectedType,
  isImageKey,
  newImageKey,
  typeOfExtension,
} from '../../../src/templates/images/store.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');

test.each([
  ['a PNG', png, 'image/png'],
  ['a GIF', Buffer.from('GIF89a\x01\x00\x01\x00', 'latin1'), 'image/gif'],
])('%s is known by its first bytes', async (_, bytes, contentType) => {
  expect(await detectedType(bytes)).toMatchObject({ contentType });
});

test.each([
  ['an SVG, which can carry scripts', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>')],
  ['a GIF without its version', Buffer.from('GIF and more')],
  ['a page', Buffer.from('<!doctype html>')],
  ['nothing', Buffer.alloc(0)],
])('%s is refused', async (_, bytes) => {
  expect(await detectedType(bytes)).toBeNull();
});

test('a declared type is taken by its older names too', () => {
  expect(declaredType('image/JPG')).toEqual({ contentType: 'image/jpeg', extension: 'jpg' });
  expect(declaredType('image/svg+xml')).toBeNull();
  expect(typeOfExtension('webp')).toBe('image/webp');
  expect(typeOfExtension('svg')).toBeNull();
});

test('only keys that were made here become part of a path', () => {
  const jpg = { contentType: 'image/jpeg', extension: 'jpg' } as const;
  const key = newImageKey('0196f0c0-0000-7000-8000-000000000000', jpg, new Date(0));
  expect(isImageKey(key)).toBe(true);
  expect(isImageKey(`${key}/../../secrets`)).toBe(false);
  expect(isImageKey('../etc/passwd')).toBe(false);
});
