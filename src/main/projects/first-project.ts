import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import * as v from 'valibot';
import { User } from '../../accounts/entity.ts';
import { hashPassword } from '../../accounts/sign-in.ts';
import { Domain, ownerOf } from '../../domains/queries.ts';
import { CreateDomain, type DomainBody } from '../../domains/schema.ts';
import { createDomain } from '../../domains/service.ts';
import type { Config } from '../../lib/config/config.ts';
import { isDeployment } from '../../lib/config/secrets.ts';
import { AppError } from '../../lib/errors.ts';
import { tryUnseal } from '../../lib/seal.ts';
import { domainOf, isEmail, normalizeEmail } from '../../lib/validation/email-address.ts';
import { type KeyPair, newKeyPair } from '../../projects/directory.ts';
import { Project } from '../../projects/queries.ts';
import { createProject } from '../../projects/service.ts';
import { openStore, type Store } from '../../store/orm.ts';
import { entities } from '../setup/database-settings.ts';
import { createDomainLookup, createDomainProvider, createTellMembers } from '../setup/mail.ts';

const trial = { owner: 'owner@fernpost.test', sender: 'hello@fernpost.test' };

/** The facts about the project in `DATA_DIR/first-project.json`; the caller adds the addresses. */
export interface FirstProjectFacts {
  baseUrl: string;
  projectId: string;
  publicKey: string;
  secretKey: string;
  sender: string;
  /** The password is null for somebody who had an account before. */
  login: { email: string; password: string | null };
  temporalAddress: string;
}

/** A project that an operator made. */
export interface CreatedProject extends FirstProjectFacts {
  /** The sender's domain with the DNS records to set; null when it could not be added. */
  domain: Pick<DomainBody, 'domain' | 'verified' | 'records'> | null;
  /** Why it could not be added. */
  problem: string | null;
}

/** The wishes of an operator for a project; null where they have none. */
export interface ProjectWishes {
  owner: string | null;
  sender: string | null;
  name: string;
}

/** A project that is not made as it was asked for: one line for each thing to set right. */
export class ProjectRefused extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.name = 'ProjectRefused';
    this.problems = problems;
  }
}

/** Returns the wishes for the first project in the settings. */
export function firstProjectWishes(config: Config): ProjectWishes {
  return { owner: config.FIRST_PROJECT_OWNER, sender: config.FIRST_PROJECT_SENDER, name: config.FIRST_PROJECT_NAME };
}

/**
 * Creates one user, one project and its sender domain in a database that has no project yet. Answers null when there is
 * one already. A trial gets an owner and a verified sender of its own; a deployment only those of the settings.
 * @throws ProjectRefused where the settings lack them
 */
export async function createFirstProject(config: Config): Promise<FirstProjectFacts | null> {
  await using store = await openProjectStore(config);
  if (await hasProjects(store)) return null;
  const wishes = firstProjectWishes(config);
  const wanted = isDeployment(config)
    ? wishes
    : { ...wishes, owner: wishes.owner ?? trial.owner, sender: wishes.sender ?? trial.sender };
  // The store closes when this function returns.
  return await makeProject(store, config, wanted, true);
}

/** `createFirstProject`, or what is needed to make one. */
export async function firstProjectOrNeeds(
  config: Config,
): Promise<{ project: FirstProjectFacts | null; needed: string[] }> {
  try {
    return { project: await createFirstProject(config), needed: [] };
  } catch (error) {
    if (!(error instanceof ProjectRefused)) throw error;
    return { project: null, needed: error.problems };
  }
}

/**
 * Creates a project whose owner and sender an operator names, however many there are already. An owner without an account
 * gets one. The sender's domain is added as by `POST /domains`, so that its DNS records have to be set.
 * @throws ProjectRefused when a wish is missing or wrong, the domain is in use, or the secrets are not those of the service
 */
export async function createOperatorProject(config: Config, wishes: ProjectWishes): Promise<CreatedProject> {
  await using store = await openProjectStore(config);
  const made = await makeProject(store, config, wishes, false);
  if (made === null) throw new Error('The project was not made');
  return made;
}

function openProjectStore(config: Config): Promise<Store> {
  const settings = { url: config.DATABASE_URL ?? '', poolSize: 2, applicationName: 'fernpost-first' };
  return openStore(settings, entities);
}

async function hasProjects(store: Store): Promise<boolean> {
  return (await store.db.session().em.count(Project)) > 0;
}

async function makeProject(
  store: Store,
  config: Config,
  wishes: ProjectWishes,
  onlyFirst: boolean,
): Promise<CreatedProject | null> {
  const { owner, sender, domain } = checkedWishes(config, wishes);
  await refuseForeignSecrets(store, config);
  if ((await ownerOf(store.db, domain, null)) !== null)
    throw new ProjectRefused([`${domain} is already a sender domain of a project: choose another sender`]);
  const random = newKeyPair();
  const keys: KeyPair =
    onlyFirst && config.FIRST_PROJECT_PUBLIC_KEY !== null && config.FIRST_PROJECT_SECRET_KEY !== null
      ? { publicKey: config.FIRST_PROJECT_PUBLIC_KEY, secretKey: config.FIRST_PROJECT_SECRET_KEY }
      : random;
  const password = randomBytes(12).toString('base64url');
  const passwordHash = await hashPassword(password);
  const isTrial = config.mailProvider === 'sandbox';
  const made = await store.db.transaction(async (tx) => {
    const { em } = tx;
    if (onlyFirst && (await em.count(Project)) > 0) return null;
    const known = await em.findOne(User, { email: owner });
    const user = known ?? em.create(User, { email: owner, passwordHash, emailVerified: true });
    await em.flush();
    const encryptionKey = config.APP_ENCRYPTION_KEY;
    const project = await createProject(tx, {
      name: wishes.name,
      ownerId: user.id,
      trusted: true,
      keys,
      encryptionKey,
    });
    if (isTrial) addVerifiedDomain(em, project.id, domain);
    return { projectId: project.id, userId: user.id, hasPassword: known === null };
  });
  if (made === null) return null;
  const added = isTrial
    ? { domain: { domain, verified: true, records: [] }, problem: null }
    : await addDomain(store, config, made, domain);
  return {
    baseUrl: config.PUBLIC_URL,
    projectId: made.projectId,
    ...keys,
    sender,
    login: { email: owner, password: made.hasPassword ? password : null },
    temporalAddress: config.TEMPORAL_ADDRESS ?? `localhost:${config.TEMPORAL_PORT}`,
    ...added,
  };
}

function checkedWishes(config: Config, { owner, sender, name }: ProjectWishes) {
  const problems: string[] = [];
  const address = (given: string | null, what: string, setting: string) => {
    if (given === null)
      problems.push(`the ${what} is missing: set ${setting}, or npm run project -- create --${what} …`);
    else if (!isEmail(given)) problems.push(`the ${what} ${given} is not an email address (${setting})`);
    return normalizeEmail(given ?? '') ?? '';
  };
  const wanted = {
    owner: address(owner, 'owner', 'FIRST_PROJECT_OWNER'),
    sender: address(sender, 'sender', 'FIRST_PROJECT_SENDER'),
  };
  const length = [...name.trim()].length;
  if (length < 1 || length > 100) problems.push('the name must have 1 to 100 characters (FIRST_PROJECT_NAME)');
  const parsed = v.safeParse(CreateDomain, { domain: domainOf(wanted.sender) });
  if (wanted.sender !== '' && !parsed.success)
    problems.push(`the domain of the sender ${wanted.sender} ${parsed.issues[0].message} (FIRST_PROJECT_SENDER)`);
  // RFC 2606: nobody can set DNS records below these.
  if (config.mailProvider !== 'sandbox' && /\.(test|example|invalid|localhost)$/.test(wanted.sender))
    problems.push(`the sender ${wanted.sender} is on a domain that cannot exist, so mail from it would be refused`);
  if (problems.length > 0 || !parsed.success) throw new ProjectRefused(problems);
  return { ...wanted, domain: parsed.output.domain };
}

// Keys that are sealed with another secret than that of the API could never be shown again.
async function refuseForeignSecrets(store: Store, config: Config): Promise<void> {
  const row = await store.db.row<{ sealed: string }>(
    'select secret_key_sealed as sealed from projects where deleted_at is null order by created_at desc limit 1',
  );
  if (row !== null && tryUnseal(row.sealed, config.encryptionKeys) === null)
    throw new ProjectRefused([
      'the keys of the projects that exist cannot be decrypted: run this with the JWT_SECRET and APP_ENCRYPTION_KEY of the service',
    ]);
}

function addVerifiedDomain(em: EntityManager, projectId: string, domain: string): void {
  em.create(Domain, { projectId, domain, verified: true, status: 'Success', dkimTokens: [], records: [] });
}

async function addDomain(
  store: Store,
  config: Config,
  made: { projectId: string; userId: string },
  domain: string,
): Promise<Pick<CreatedProject, 'domain' | 'problem'>> {
  const quiet = () => undefined;
  const deps = {
    db: store.db.session(),
    provider: await createDomainProvider(config),
    dns: createDomainLookup(config),
    tell: createTellMembers(config),
    // Workers make the calls of what is queued here.
    dispatchSoon: quiet,
    userId: made.userId,
    encryptionKey: config.APP_ENCRYPTION_KEY,
    holdsPublicDomains: config.holdsPublicDomains,
    log: { info: quiet, warn: quiet },
    now: new Date(),
  };
  try {
    const { verified, records } = await createDomain(deps, { id: made.projectId, name: '' }, { domain });
    return { domain: { domain, verified, records }, problem: null };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { domain: null, problem: error.message };
  }
}
