import { storagePrefix } from '@fernpost/earlier-name';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

test('what the browser kept under the earlier name moves, unless something newer is there', async () => {
  const kept = new Map([
    [`${storagePrefix}theme`, 'dark'],
    [`${storagePrefix}draft.p.w`, 'draft'],
    [`${storagePrefix}project`, 'old'],
    ['fernpost.project', 'new'],
    ['other', 'x'],
  ]);
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  };
  vi.stubGlobal('localStorage', new Proxy(storage, { ownKeys: () => [...kept.keys()], getOwnPropertyDescriptor }));
  await import('../../../dashboard/src/storage/earlier-storage.ts');
  expect(Object.fromEntries(kept)).toEqual({
    'fernpost.theme': 'dark',
    'fernpost.draft.p.w': 'draft',
    'fernpost.project': 'new',
    other: 'x',
  });
});

// As browsers list the keys of a Storage.
function getOwnPropertyDescriptor() {
  return { enumerable: true, configurable: true };
}
