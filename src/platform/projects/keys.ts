import { randomBytes } from 'node:crypto';

/** The two keys of a project: `pk_…` may only track, `sk_…` may do everything. */
export interface KeyPair {
  publicKey: string;
  secretKey: string;
}

/** Makes a pair of keys of 32 random bytes each. */
export function newKeyPair(): KeyPair {
  return { publicKey: `pk_${randomBytes(32).toString('hex')}`, secretKey: `sk_${randomBytes(32).toString('hex')}` };
}

/** Makes a key with scopes of 32 random bytes. */
export function newScopedKey(): string {
  return `${scopedPrefix}${randomBytes(32).toString('hex')}`;
}

/** How keys with scopes begin. */
export const scopedPrefix = 'rk_';

/** The beginning of a key by which people recognize it. */
export function keyPrefix(key: string): string {
  return key.slice(0, scopedPrefix.length + 8);
}
