import type { EntityManager } from '@mikro-orm/postgresql';
import { seal, sha256 } from '../lib/seal.ts';
import { Membership, Project } from './entity.ts';
import type { KeyPair } from './keys.ts';

/** Creates a project with these keys, owned by the user. Call inside a transaction. */
export async function createProject(
  em: EntityManager,
  facts: { name: string; ownerId: string; keys: KeyPair; encryptionKey: string },
): Promise<Project> {
  const project = em.create(Project, { name: facts.name, ...storedKeys(facts.keys, facts.encryptionKey) });
  await em.flush();
  em.create(Membership, { projectId: project.id, userId: facts.ownerId, role: 'OWNER' });
  await em.flush();
  return project;
}

/** A pair of keys as the row keeps it. */
export function storedKeys(keys: KeyPair, encryptionKey: string) {
  return {
    publicKeyHash: sha256(keys.publicKey),
    secretKeyHash: sha256(keys.secretKey),
    publicKeySealed: seal(keys.publicKey, encryptionKey),
    secretKeySealed: seal(keys.secretKey, encryptionKey),
  };
}
