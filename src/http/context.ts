import type { Logger } from 'pino';
import type { Config } from '../lib/config/config.ts';
import type { Role, Scope } from '../lib/enums.ts';
import type { Clock } from '../lib/time.ts';
import type { HeavyReads } from '../store/heavy-reads.ts';
import type { Outbox } from '../store/outbox/dispatcher.ts';
import type { DeliveryWaker } from '../store/outbox/wake.ts';
import type { Database, WriteOnce } from '../store/sql.ts';

/**
 * Everything the API is built from; made once by `main`, handed to every request. Areas above the HTTP kit add what they need
 * of the outside by declaring it in their own files (`declare module '…/core/http/context.ts'`), so that the kit knows none of them.
 */
export interface App {
  config: Config;
  db: Database;
  /** For what reads or counts much of a project's data; a route that is `heavy` gets it as its `db`. */
  heavyReads: HeavyReads;
  log: Logger;
  clock: Clock;
  outbox: Outbox;
  waker: DeliveryWaker;
  /** Answers `ok`, or says what is wrong, within a second. */
  checks: Record<'postgres' | 'temporal', () => Promise<string>>;
  /** Returns what is about to go wrong while the dependencies answer, each as a sentence, within a second. */
  warnings(): Promise<string[]>;
  /** Runs a route for a tool, with every check of a request but its rate's. @throws what the request is refused with */
  callRoute(call: CalledRoute, by: RouteCaller): Promise<unknown>;
}

/** A call of a route: its path as OpenAPI writes it. */
export interface CalledRoute {
  method: string;
  path: string;
  params?: Record<string, string>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
}

/** The request that calls a route, and the database that it works with. */
export interface RouteCaller
  extends Pick<Handled<unknown, unknown, 'none'>, 'app' | 'db' | 'requestId' | 'ip' | 'header'> {
  /** Set for the operation of a plan, whose approval was checked: it is tried in a transaction that is rolled back, or carried out. */
  plan?: 'tried' | 'carriedOut';
}

/** The project of a request; the area of projects declares what else is known of it. */
export interface RequestProject {
  id: string;
}

/** Permissions of a language model that uses a key (docs/contract/reach.md#5-mcp). */
export interface McpSettings {
  /** `read`: only look. `plan`: also make plans. `act`: also carry them out. */
  mode: 'read' | 'plan' | 'act';
  /** Contacts that one plan may reach. */
  mostRecipients: number;
  /** Which plans a member of the project has to approve: all, those that reach more, or none, and larger ones are refused. */
  needsHuman: 'always' | 'above' | 'never';
}

/** A key with scopes (`rk_…`), and what it is limited to. */
export interface ScopedKey {
  id: string;
  prefix: string;
  scopes: readonly Scope[];
  /** Domains of senders that it may name; null for all that are verified. */
  senderDomains: readonly string[] | null;
  /** Whom its mail reaches; null for everybody. */
  recipients: { domains: readonly string[]; addresses: readonly string[] } | null;
  /** Null for reading only. */
  mcp: McpSettings | null;
}

/** A caller with a secret key, who acts as ADMIN of its project, with the public one, or with a key of some scopes. */
export interface KeyActor {
  kind: 'key';
  /** Null for the two keys that every project has. */
  scoped: ScopedKey | null;
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
type ActorOf<Who> = Who extends 'none'
  ? null
  : Who extends 'cookie'
    ? UserActor
    : Who extends 'account'
      ? KeyActor | UserActor
      : Who extends 'public' | 'secret'
        ? KeyActor
        : KeyActor | MemberActor;

/** Who was let in, and the project they act for. */
export interface Admitted {
  project: RequestProject | null;
  actor: KeyActor | UserActor | null;
  /** Set for a public key that shares neither the rate window nor the idempotency keys of its project. */
  apart: { requestsPerMinute: number } | null;
}

/** The parts of a request that decide who calls. */
export interface RequestCredentials {
  method: string;
  params: Record<string, string>;
  /** A request header, lower-case name; '' when absent. */
  header(name: string): string;
  /** The project of a session of this user that sends no `X-Project-Id`, where the route knows one. */
  findProject(userId: string): Promise<string | null>;
}

/** Keeps the answer of a request for its repetitions, where it asks for that. */
export type KeepAnswer = (tx: Database, body: unknown) => Promise<void>;

/** The arguments of a handler: the parsed request, who asks, and the parts of the service. */
export interface Handled<Query, Body, Access, Params = unknown> {
  app: App;
  /** The database with an entity manager of its own for this request. */
  db: Database;
  /** Through which a route that is `idempotent` makes all its writes. */
  writeOnce: WriteOnce;
  /** Which such a route calls with its answer in the transaction of `writeOnce`, so that a repetition can get it again. */
  keepAnswer: KeepAnswer;
  /** Null where no project is named; `account`: the key's. */
  project: Access extends 'none' | 'cookie' ? null : Access extends 'account' ? RequestProject | null : RequestProject;
  actor: ActorOf<Access>;
  params: Params;
  query: Query;
  body: Body;
  requestId: string;
  log: Logger;
  /** Network address of the caller, seen through as many proxies as TRUST_PROXY says. */
  ip: string;
  /** A request header, lower-case name. */
  header(name: string): string;
}
