import { EntitySchema } from '@mikro-orm/core';
import type { Pool } from 'pg';
import { Gauge, type Registry } from 'prom-client';
import * as accounts from '../../accounts/entity.ts';
import * as systemMails from '../../accounts/system-mail/queries.ts';
import * as automations from '../../automations/entity.ts';
import * as migrations from '../../automations/migrating/queries.ts';
import * as simulations from '../../automations/simulation/facts.ts';
import * as campaigns from '../../campaigns/entity.ts';
import * as contacts from '../../contacts/entity.ts';
import * as suppressions from '../../contacts/suppressions/rules.ts';
import * as domains from '../../domains/queries.ts';
import * as jobs from '../../imports/queries.ts';
import * as erasures from '../../insight/erasures/entity.ts';
import * as plans from '../../insight/mcp/plans.ts';
import * as webhooks from '../../insight/webhooks/entity.ts';
import * as wipes from '../../insight/wipes/queries.ts';
import * as reviews from '../../launches/review/queries.ts';
import type { Config } from '../../lib/config/config.ts';
import * as keys from '../../projects/api-key-service.ts';
import * as invitations from '../../projects/invitations/service.ts';
import * as projects from '../../projects/queries.ts';
import * as segments from '../../segments/definition.ts';
import * as views from '../../segments/lists/views.ts';
import type { HeavyReadLimits } from '../../store/heavy-reads.ts';
import type { Store } from '../../store/orm.ts';
import { type ConnectionSettings, DatabaseAddressError, requireSessions } from '../../store/postgres/connection.ts';
import * as blocks from '../../templates/blocks/service.ts';
import * as brands from '../../templates/brand/service.ts';
import * as templates from '../../templates/queries.ts';
import * as uploads from '../../templates/uploads/service.ts';
import * as versions from '../../templates/versions.ts';

const workflows = [automations, migrations, simulations];
const platform = [accounts, systemMails, projects, keys, invitations, domains, wipes];
const audience = [contacts, segments, suppressions, views, jobs];
const content = [uploads, templates, blocks, brands, versions];

/**
 * The tables that code reads or writes by the entity manager. Relations are `mapToPk` where a row only carries the ID of the other. `migrations/schema.sql` describes all tables.
 */
export const entities = [platform, audience, content, campaigns, reviews, workflows, erasures, plans, webhooks]
  .flat()
  .flatMap((exported) => Object.values(exported).filter((value) => value instanceof EntitySchema));

const second = 1000;

/** Postgres for requests: nobody waits for long, and what cannot be had in time is refused. */
export function requestDatabase(config: Config): ConnectionSettings {
  return {
    url: urlOf(config),
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'fernpost-api',
    limits: {
      connectionMs: config.DATABASE_POOL_TIMEOUT * second,
      statementMs: config.DATABASE_STATEMENT_TIMEOUT * second || null,
      lockMs: config.DATABASE_LOCK_TIMEOUT * second || null,
      idleInTransactionMs: config.DATABASE_STATEMENT_TIMEOUT * second || null,
    },
  };
}

/** Postgres for heavy reads of requests, beside the connections of all other requests. */
export function heavyDatabase(config: Config): ConnectionSettings {
  const requests = requestDatabase(config);
  return {
    ...requests,
    poolSize: config.HEAVY_READ_CONNECTIONS,
    applicationName: 'fernpost-reads',
    limits: requests.limits && {
      ...requests.limits,
      // Whoever has a turn among the reads of its project waits for those of other projects, however long they may take.
      connectionMs: (config.DATABASE_POOL_TIMEOUT + 2 * config.HEAVY_READ_TIMEOUT) * second,
    },
  };
}

/** How heavy reads are shared out between projects. */
export function heavyReadLimits(config: Config): HeavyReadLimits {
  const { HEAVY_READS_PER_PROJECT: perProject, HEAVY_READ_TIMEOUT: seconds } = config;
  // A page of the dashboard reads for less than a second. A project that goes on without a pause keeps this process busy with its answers where
  // reads are short, so most of the time is left to others; where they are long it keeps Postgres busy, by one read at a time, which leaves
  // others the rest of its processors.
  const rest = { freeMs: second, times: 5, mostMs: 500 };
  return { perProject, waiting: 50 * perProject, seconds, rest };
}

/** Postgres for heavy reads of activities: two at once, one of each project, so that the pool of a worker stays with what delivers. */
export function heavyWorkerDatabase(config: Config): ConnectionSettings {
  const worker = workerDatabase(config);
  const limits = worker.limits && { ...worker.limits, connectionMs: 600 * second };
  return { ...worker, poolSize: 2, applicationName: 'fernpost-reads', limits };
}

/** Activities wait for their turn for as long as it takes. */
export const heavyWorkerLimits: HeavyReadLimits = { perProject: 1, waiting: null, seconds: null };

/** One connection for a question that has to be answered while requests hold all of theirs, or never. */
export function sideDatabase(config: Config, applicationName: string, statementMs: number): ConnectionSettings {
  return {
    url: urlOf(config),
    poolSize: 1,
    applicationName,
    limits: { connectionMs: statementMs, statementMs, lockMs: statementMs, idleInTransactionMs: statementMs },
  };
}

/**
 * Postgres for workers: statements over whole audiences take as long as they take, but none waits for a lock longer than half a minute, and
 * a worker that froze frees its locks.
 */
export function workerDatabase(config: Config): ConnectionSettings {
  return {
    url: urlOf(config),
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'fernpost-worker',
    limits: { connectionMs: 60 * second, statementMs: null, lockMs: 30 * second, idleInTransactionMs: 600 * second },
  };
}

/**
 * Where to listen for notifications. An address of its own where nothing answers passes, for whoever listens there keeps trying.
 * @throws DatabaseAddressError when no session can be had there
 */
export async function sessionUrl(config: Config): Promise<string> {
  const direct = config.DIRECT_DATABASE_URL;
  if (direct === null) {
    await requireSessions(urlOf(config), 'DATABASE_URL');
    return urlOf(config);
  }
  await requireSessions(direct, 'DIRECT_DATABASE_URL').catch((error: Error) => {
    if (error instanceof DatabaseAddressError) throw error;
  });
  return direct;
}

/** Returns warnings about settings that a pooler in between does not pass on. */
export async function poolerWarnings({ db, route }: Store, { limits }: ConnectionSettings): Promise<string[]> {
  if (!route.pooled) return [];
  const row = await db.row<{ limit: string; jit: string }>(
    "select current_setting('statement_timeout') as limit, current_setting('jit') as jit",
  );
  const warnings: string[] = [];
  if (limits?.statementMs && row?.limit === '0')
    warnings.push(
      'DATABASE_URL leads through a pooler that passes on no limits: set statement_timeout and lock_timeout in its connect_query (docs/operations/configure.md, "Poolers")',
    );
  if (row?.jit === 'on')
    warnings.push(
      'Postgres compiles statements (jit) for the sessions of the pooler in DATABASE_URL, which makes campaigns many times slower: run npm run migrate as the same role and reconnect the pooler, or set jit to off in its connect_query (docs/operations/configure.md, "Poolers")',
    );
  return warnings;
}

function urlOf(config: Config): string {
  if (config.DATABASE_URL === null) throw new Error('DATABASE_URL is required');
  return config.DATABASE_URL;
}

/** Adds what the connection pool of this process is doing; read from memory, so it is there while the pool is exhausted. */
export function measurePool(registry: Registry, pool: Pool): void {
  new Gauge({
    name: 'fernpost_pool_connections',
    help: 'Connections to Postgres of this process, by what they are doing',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
    },
  });
  new Gauge({
    name: 'fernpost_pool_waiting',
    help: 'Statements that wait for a connection to Postgres',
    registers: [registry],
    collect() {
      this.set(pool.waitingCount);
    },
  });
}
