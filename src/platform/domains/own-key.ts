import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { ProviderRecord } from '@fernpost/mail-providers';
import { seal } from '../../core/lib/seal.ts';

/** A DKIM key pair of our own: the record to publish, and the sealed private key. */
export interface OwnKey {
  selector: string;
  record: ProviderRecord;
  keySealed: string;
}

/** Makes a 2048-bit RSA key pair (RFC 8301, 3.2) for a domain; the private key is sealed with `encryptionKey`. */
export async function newOwnKey(domain: string, encryptionKey: string, now: Date): Promise<OwnKey> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const selector = `ph${now.toISOString().slice(0, 10).replaceAll('-', '')}${randomBytes(3).toString('hex')}`;
  return {
    selector,
    record: {
      purpose: 'DKIM',
      type: 'TXT',
      name: `${selector}._domainkey.${domain}`,
      value: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`,
      priority: null,
      verified: false,
    },
    keySealed: seal(privateKey, encryptionKey),
  };
}
