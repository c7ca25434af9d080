import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Database } from '../db/sql.ts';
import type { Mailer } from '../delivery/mailer.ts';
import type { DomainProvider } from '../domains/provider.ts';
import type { Clock } from '../lib/time.ts';
import type { Outbox } from '../outbox/dispatcher.ts';
import type { DeliveryWaker } from '../outbox/wake.ts';
import type { ProjectDirectory, ProjectFacts } from '../projects/directory.ts';
import type { Resolver } from '../verification/resolver.ts';

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
  mailer: Mailer;
  resolver: Resolver;
  /** Null when the provider's account is not configured. */
  domainProvider: DomainProvider | null;
  /** Answers `ok`, or says what is wrong, within a second. */
  checks: Record<'postgres' | 'temporal', () => Promise<string>>;
}

/** What a handler gets: the parsed request, who asks, and the parts of the service. */
export interface Handled<Query, Body, Access> {
  app: App;
  db: Database;
  /** An entity manager of its own for this request. */
  readonly em: EntityManager;
  project: Access extends 'none' ? null : ProjectFacts;
  params: Record<string, string>;
  query: Query;
  body: Body;
  requestId: string;
  log: Logger;
  /** A request header, lower-case name. */
  header(name: string): string;
}
