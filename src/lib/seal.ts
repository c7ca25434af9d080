import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/** Encrypts short secrets for storage (AES-256-GCM); the output carries its version and nonce. */
export function seal(plain: string, key: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyBytes(key), nonce);
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

/** Decrypts what `seal` made. Throws when the key is another one or the text was changed. */
export function unseal(sealed: string, key: string): string {
  const [version, payload] = sealed.split('.');
  if (version !== 'v1' || payload === undefined) throw new Error('Not a sealed value');
  const bytes = Buffer.from(payload, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', keyBytes(key), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
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
  return Buffer.from(hkdfSync('sha256', key, '', 'posthorn stored secrets', 32));
}
