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
