import { type Algorithm, hash, verify } from '@node-rs/argon2';

// The contract's parameters (page 3, 1.3), which are those of the OWASP password storage cheat sheet.
const options = { algorithm: 2 satisfies Algorithm.Argon2id, memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };

/** Hashes a password with argon2id. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, options);
}

/** Whether the password is the one that was hashed. */
export function verifyPassword(hashed: string, password: string): Promise<boolean> {
  return verify(hashed, password);
}
