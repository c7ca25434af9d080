import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { keyContexts } from '@fernpost/earlier-name';
import { AppError } from '../lib/errors.ts';
import { instantOf, uuid7 } from '../lib/ids.ts';
import { seal, unseal } from '../lib/seal.ts';
import { Project } from '../projects/queries.ts';
import { type Changes, createCache } from '../store/changes.ts';
import { isoInstant } from '../store/columns.ts';
import { type Database, type Query, raw, sql } from '../store/sql.ts';

/** The keys of the erasures of a project, both derived from one secret of the project. */
interface ErasureKey {
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
  const options = { fields: ['erasureKeySealed'], disableIdentityMap: true } as const;
  const project = await db.session().em.findOne(Project, { id: projectId }, options);
  return project?.erasureKeySealed ? erasureKeyOf(unseal(project.erasureKeySealed, encryptionKeys)) : null;
}

/** The key of a project, which the first erasure makes. Rotating APP_ENCRYPTION_KEY encrypts it again and leaves it as it is. */
export async function ensureErasureKey(
  tx: Database,
  projectId: string,
  encryptionKeys: readonly string[],
): Promise<ErasureKey> {
  const fresh = seal(randomBytes(32).toString('hex'), encryptionKeys[0] ?? '');
  await tx.em.nativeUpdate(Project, { id: projectId, erasureKeySealed: null }, { erasureKeySealed: fresh });
  const key = await findErasureKey(tx, projectId, encryptionKeys);
  if (key === null) throw new Error('A project that was just given a key has none');
  return key;
}

const domain = 'erased.invalid';

/** The address that takes the place of an erased one; `.invalid` never receives mail (RFC 2606). */
export function pseudonymOf(subject: string): string {
  return `erased-${subject.slice(0, 8)}@${domain}`;
}

/** Whether the recipient of the mail `alias` was erased: what is still reported of it is about nobody. */
export function isErasedMail(alias: string): Query {
  return raw(`${alias}.to_address like 'erased-________@${domain}'`);
}

declare module '../http/context.ts' {
  interface App {
    erasedAddresses: ErasedAddresses;
  }
}

/** Addresses that were erased, as requests ask for them. */
export interface ErasedAddresses {
  /** Returns those of the addresses, in their stored form, that the project may neither store nor send to. */
  suppressed(projectId: string, emails: readonly string[]): Promise<Pick<ReadonlySet<string>, 'has'>>;
  /** Returns the ID that visitors get for the contact, so that nobody learns of the erasure; null for an address that may be stored. */
  standInFor(projectId: string, email: string): Promise<string | null>;
}

/** The register over a database whose changes are heard. A project without erasures costs a look into memory. */
export function createErasedAddresses(
  db: Database,
  changes: Changes,
  encryptionKeys: readonly string[],
): ErasedAddresses {
  const keys = createCache<{ key: ErasureKey | null }>(changes, ['projects']);
  const keyOf = async (projectId: string) => {
    const known = await keys.get(projectId, async () => ({
      projectId,
      value: { key: await findErasureKey(db, projectId, encryptionKeys) },
    }));
    return known?.key ?? null;
  };
  return {
    async suppressed(projectId, emails) {
      const key = await keyOf(projectId);
      return key === null ? new Map() : erasedAmong(db, projectId, key, emails, true);
    },
    async standInFor(projectId, email) {
      const key = await keyOf(projectId);
      if (key === null) return null;
      const erasedAt = (await erasedAmong(db, projectId, key, [email], true)).get(email);
      return erasedAt === undefined ? null : key.standInOf(email, instantOf(projectId), erasedAt);
    },
  };
}

/** Returns the addresses that were erased in the project, each with the instant; with `suppressedOnly` only those that stay suppressed. */
export async function erasedAmong(
  db: Database,
  projectId: string,
  key: ErasureKey,
  emails: readonly string[],
  suppressedOnly = false,
): Promise<ReadonlyMap<string, Date>> {
  const bySubject = new Map(emails.map((email) => [key.subjectOf(email), email]));
  const rows = await db.rows<{ subject: string; at: string }>(sql`
    select subject, created_at::text as at from erased_addresses
    where project_id = ${projectId} and subject = any (${[...bySubject.keys()]}::text[]) and (suppressed or not ${suppressedOnly})`);
  return new Map(rows.map(({ subject, at }) => [bySubject.get(subject) ?? '', new Date(isoInstant(at))]));
}

/**
 * Refuses to store an erased address, or to send to it. The answer does not repeat it.
 * @throws 422 CONTACT_ERASED for the field with the first such address
 */
export async function refuseErased(
  addresses: Pick<ErasedAddresses, 'suppressed'>,
  projectId: string,
  fields: readonly { field: string; email: string }[],
): Promise<void> {
  const erased = await addresses.suppressed(
    projectId,
    fields.map(({ email }) => email),
  );
  const errors = fields
    .filter(({ email }) => erased.has(email))
    .map(({ field }) => ({
      field,
      code: 'erased',
      message: 'is an address that was erased at the request of its owner',
    }));
  if (errors.length > 0)
    throw new AppError(
      422,
      'CONTACT_ERASED',
      'The contact was erased, and its address stays suppressed: nothing was stored',
      {
        errors,
        suggestion: 'Leave this address out: its owner was erased and must not receive email.',
      },
    );
}
