import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import type { ImageStore } from '../../content/uploads/store.ts';
import type { OAuthProviders } from '../../platform/accounts/oauth.ts';
import type { Payments } from '../../platform/billing/payments.ts';
import type { DnsLookup } from '../../platform/domains/dns.ts';
import type { DomainProvider } from '../../platform/domains/provider.ts';
import type { ProjectDirectory, ProjectFacts } from '../../platform/projects/directory.ts';
import type { TellMembers } from '../../platform/system-mail/service.ts';
import type { Resolver } from '../../platform/verification/resolver.ts';
import type { Mailer } from '../../sending/providers/mailer.ts';
import type { AmazonDoor } from '../../sending/providers/sns-door.ts';
import type { Config } from '../config/config.ts';
import type { Database, WriteOnce } from '../database/sql.ts';
import type { Role } from '../lib/roles.ts';
import type { Clock } from '../lib/time.ts';
import type { Outbox } from '../outbox/dispatcher.ts';
import type { DeliveryWaker } from '../outbox/wake.ts';

/** Everything the API is built from; made once by `main`, handed to every request. */
export interface App {
  config: Config;
  orm: MikroORM;
  db: Database;
  log: Logger;
  clock: Clock;
  directory: ProjectDirectory;
  outbox: Outbox;
  waker: DeliveryWaker;
  /** Providers of sign-in that are set up. */
  oauth: OAuthProviders;
  mailer: Mailer;
  /** Amazon's own hosts, for what proves that a message is of Amazon SNS. */
  amazon: AmazonDoor;
  resolver: Resolver;
  /** Null when the provider's account is not configured: sender domains then get keys of our own. */
  domainProvider: DomainProvider | null;
  /** For the records of sender domains; null with the sandbox, for whose domains nobody sets any. */
  dns: DnsLookup | null;
  /** Null where billing is not enabled. */
  payments: Payments | null;
  /** Where uploaded images are kept. */
  images: ImageStore;
  /** Sends mail of the service to the members of a project. */
  tellMembers: TellMembers;
  /** Answers `ok`, or says what is wrong, within a second. */
  checks: Record<'postgres' | 'temporal', () => Promise<string>>;
}

/** A caller with a secret key, who acts as ADMIN of its project, or with the public one. */
export interface KeyActor {
  kind: 'key';
}

/** A signed-in user; `role` is what they are in the request's project, null where none is named. */
export interface UserActor {
  kind: 'user';
  userId: string;
  email: string;
  role: Role | null;
}

/** A signed-in member of the request's project. */
export interface MemberActor extends UserActor {
  role: Role;
}

/** Who asks, by the kind of access. */
export type ActorOf<Who> = Who extends 'none'
  ? null
  : Who extends 'cookie'
    ? UserActor
    : Who extends 'account'
      ? KeyActor | UserActor
      : Who extends 'public' | 'secret'
        ? KeyActor
        : KeyActor | MemberActor;

/** What a handler gets: the parsed request, who asks, and the parts of the service. */
export interface Handled<Query, Body, Access> {
  app: App;
  db: Database;
  /** Through which a route that is `idempotent` makes all its writes. */
  writeOnce: WriteOnce;
  /** An entity manager of its own for this request. */
  readonly em: EntityManager;
  /** Null where no project is named; `account`: the key's. */
  project: Access extends 'none' | 'cookie' ? null : Access extends 'account' ? ProjectFacts | null : ProjectFacts;
  actor: ActorOf<Access>;
  params: Record<string, string>;
  query: Query;
  body: Body;
  requestId: string;
  log: Logger;
  /** Network address of the caller, seen through as many proxies as TRUST_PROXY says. */
  ip: string;
  /** A request header, lower-case name. */
  header(name: string): string;
}
