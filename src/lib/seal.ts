import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { keyContexts } from '@fernpost/earlier-name';

/** Encrypts short secrets for storage (AES-256-GCM); the output carries its version and nonce. */
export function seal(plain: string, key: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyBytes(key), nonce);
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

/** A stored secret that none of the keys decrypts. */
export class UnsealError extends Error {
  constructor() {
    super(
      'A stored secret cannot be decrypted: APP_ENCRYPTION_KEY, or the JWT_SECRET it is derived from, is not the one it was encrypted with; set the old one as APP_ENCRYPTION_KEY_PREVIOUS or JWT_SECRET_PREVIOUS',
    );
    this.name = 'UnsealError';
  }
}

/**
 * Decrypts what `seal` made with one of these keys.
 * @throws UnsealError when it was another key, or the text was changed
 */
export function unseal(sealed: string, keys: string | readonly string[]): string {
  const plain = tryUnseal(sealed, keys);
  if (plain === null) throw new UnsealError();
  return plain;
}

/** Decrypts what `seal` made with one of these keys; null when it was another key, or the text was changed. */
export function tryUnseal(sealed: string, keys: string | readonly string[]): string | null {
  for (const key of typeof keys === 'string' ? [keys] : keys) {
    const plain = unsealWith(sealed, key);
    if (plain !== null) return plain;
  }
  return null;
}

function unsealWith(sealed: string, key: string): string | null {
  const [version, payload] = sealed.split('.');
  const bytes = Buffer.from(payload ?? '', 'base64url');
  if (version !== 'v1' || bytes.length < 28) return null;
  const decipher = createDecipheriv('aes-256-gcm', keyBytes(key), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/** SHA-256 of a text. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Compares two secrets in a time that does not depend on where they differ. */
export function equalSecrets(one: string, other: string): boolean {
  return timingSafeEqual(sha256(one), sha256(other));
}

function keyBytes(key: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', keyContexts.storedSecrets, 32));
}
