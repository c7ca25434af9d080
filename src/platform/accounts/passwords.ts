import { randomBytes } from 'node:crypto';
import { type Algorithm, hash, verify } from '@node-rs/argon2';

// The contract's parameters (docs/contract/platform.md#1-3), which are those of the OWASP password storage cheat sheet.
const options = { algorithm: 2 satisfies Algorithm.Argon2id, memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };
let nobodys: Promise<string> | null = null;

/** Hashes a password with argon2id. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, options);
}

/**
 * Whether the password is the one that was hashed. Without a hash (nobody has the address, or the account has no
 * password) the answer is no, after the same work, so that the time tells nothing.
 */
export async function verifyPassword(hashed: string | null, password: string): Promise<boolean> {
  nobodys ??= hashPassword(randomBytes(32).toString('base64'));
  const matches = await verify(hashed ?? (await nobodys), password);
  return hashed !== null && matches;
}
