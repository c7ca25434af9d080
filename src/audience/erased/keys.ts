import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { keyContexts } from '@fernpost/earlier-name';
import { type Database, sql } from '../../core/database/sql.ts';
import { uuid7 } from '../../core/lib/ids.ts';
import { seal, unseal } from '../../core/lib/seal.ts';

/** What the erasures of a project are made with: both keys come from one secret of the project. */
export interface ErasureKey {
  /** The name under which an address stays known: HMAC-SHA-256 in hex, the same for every erasure of the project. */
  subjectOf(email: string): string;
  /** The ID that a contact of this address seems to have: the same whenever it is asked for, and made before `until`. */
  standInOf(email: string, since: Date, until: Date): string;
  /** Signs certificates (Ed25519). */
  privateKey: KeyObject;
  /** PEM of what verifies them. */
  publicKey: string;
}

// RFC 8410, 7: a private key of Ed25519 is these bytes and its 32 bytes.
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The keys that a secret of 32 bytes in hex stands for. */
export function erasureKeyOf(secret: string): ErasureKey {
  const derived = (purpose: string) => Buffer.from(hkdfSync('sha256', Buffer.from(secret, 'hex'), '', purpose, 32));
  const addresses = derived(keyContexts.erasedAddresses);
  const der = Buffer.concat([pkcs8Prefix, derived(keyContexts.erasureCertificates)]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return {
    subjectOf: (email) => createHmac('sha256', addresses).update(email).digest('hex'),
    standInOf(email, since, until) {
      // No address has a space, so this is not the hash that the address is known by.
      const mac = createHmac('sha256', addresses).update(`contact ${email}`).digest();
      const part = mac.readUIntBE(8, 6) / 2 ** 48;
      const millis = Math.floor(since.getTime() + part * Math.max(0, until.getTime() - since.getTime()));
      return uuid7(millis, mac.readUInt16BE(14) & 0x7ff, mac);
    },
    privateKey,
    publicKey: String(createPublicKey(privateKey).export({ type: 'spki', format: 'pem' })),
  };
}

/** The key of a project; null while nobody was erased in it. @throws UnsealError */
export async function findErasureKey(
  db: Database,
  projectId: string,
  encryptionKeys: readonly string[],
): Promise<ErasureKey | null> {
  const row = await db.row<{ sealed: string | null }>(
    sql`select erasure_key_sealed as sealed from projects where id = ${projectId}`,
  );
  return row?.sealed ? erasureKeyOf(unseal(row.sealed, encryptionKeys)) : null;
}

/** The key of a project, which the first erasure makes. Rotating APP_ENCRYPTION_KEY encrypts it again and leaves it as it is. */
export async function ensureErasureKey(
  tx: Database,
  projectId: string,
  encryptionKeys: readonly string[],
): Promise<ErasureKey> {
  const fresh = seal(randomBytes(32).toString('hex'), encryptionKeys[0] ?? '');
  await tx.count(sql`
    update projects set erasure_key_sealed = ${fresh} where id = ${projectId} and erasure_key_sealed is null`);
  const key = await findErasureKey(tx, projectId, encryptionKeys);
  if (key === null) throw new Error('A project that was just given a key has none');
  return key;
}
