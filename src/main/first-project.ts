import { randomBytes } from 'node:crypto';
import { User } from '../accounts/entity.ts';
import { hashPassword } from '../accounts/passwords.ts';
import type { Config } from '../config.ts';
import { openStore } from '../db/orm.ts';
import { Domain } from '../domains/entity.ts';
import { Project } from '../projects/entity.ts';
import { newKeyPair } from '../projects/keys.ts';
import { createProject } from '../projects/service.ts';
import { entities } from './entities.ts';

const domain = 'posthorn.test';
const ownerEmail = `owner@${domain}`;

/** What `DATA_DIR/first-project.json` says of the project; the places are added by the caller. */
export interface FirstProjectFacts {
  baseUrl: string;
  projectId: string;
  publicKey: string;
  secretKey: string;
  sender: string;
  login: { email: string; password: string };
  temporalAddress: string;
}

/**
 * Creates one user, one project and one verified sender domain in a database that has no project yet.
 * Answers null when there is one already.
 */
export async function createFirstProject(config: Config): Promise<FirstProjectFacts | null> {
  const store = await openStore(
    { url: config.DATABASE_URL ?? '', poolSize: 2, applicationName: 'posthorn-first' },
    entities,
  );
  try {
    const random = newKeyPair();
    const keys = {
      publicKey: config.FIRST_PROJECT_PUBLIC_KEY ?? random.publicKey,
      secretKey: config.FIRST_PROJECT_SECRET_KEY ?? random.secretKey,
    };
    const password = randomBytes(12).toString('base64url');
    const passwordHash = await hashPassword(password);
    const projectId = await store.orm.em.fork().transactional(async (em) => {
      if ((await em.count(Project)) > 0) return null;
      const user = em.create(User, { email: ownerEmail, passwordHash, emailVerified: true });
      await em.flush();
      const project = await createProject(em, {
        name: 'First project',
        ownerId: user.id,
        keys,
        encryptionKey: config.APP_ENCRYPTION_KEY,
      });
      em.create(Domain, {
        projectId: project.id,
        domain,
        verified: true,
        status: 'Success',
        dkimTokens: [],
        records: [],
      });
      return project.id;
    });
    if (projectId === null) return null;
    return {
      baseUrl: config.PUBLIC_URL,
      projectId,
      ...keys,
      sender: `hello@${domain}`,
      login: { email: ownerEmail, password },
      temporalAddress: config.TEMPORAL_ADDRESS ?? `localhost:${config.TEMPORAL_PORT}`,
    };
  } finally {
    await store.close();
  }
}
