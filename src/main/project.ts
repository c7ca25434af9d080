import { type EntityData, LockMode } from '@mikro-orm/core';
import type { ClientBase } from 'pg';
import { User } from '../accounts/entity.ts';
import { Domain } from '../domains/queries.ts';
import { decideRestored, restoreReports, skipSearch } from '../feedback/reports/restored.ts';
import { type Config, readConfigOrExit } from '../lib/config/config.ts';
import { isUuid } from '../lib/ids.ts';
import { Project } from '../projects/queries.ts';
import type { Retention } from '../store/columns.ts';
import { divideEvents, eventParts, partPace, undivideEvents } from '../store/event-parts.ts';
import { openStore } from '../store/orm.ts';
import type { Database } from '../store/sql.ts';
import { approveDomain, approveProject, createByHand, waitingProjects } from './projects/approvals.ts';

// `npm run project -- enable <id>` lets a disabled project send again, `-- disable <id>` stops one; `-- rate <id> <n>` lets
// it send n messages a second at most, `-- rate <id> default` as many as every other one; `-- create` makes one; `-- waiting`
// lists those of people whom no operator invited, and `-- approve <id>` trusts one, or lets one of its domains send. `-- restored` says what is
// known of mail since the database was set back, decides about what is not, and gives up a search that fails. `-- events` shows the parts that the
// table of events is divided into, `-- events divide` divides it and `-- events undivide` takes that back while it is possible.
const usage = [
  'npm run project -- enable|disable <project id>',
  'npm run project -- rate <project id> <messages a second>|default',
  'npm run project -- create --owner <address> --sender <address> [--name <name>]',
  'npm run project -- waiting',
  'npm run project -- approve <project id> [<domain>]',
  'npm run project -- restored [send|fail|skip]',
  'npm run project -- events [divide|undivide]',
];

/** A change of a project, and the sentence that reports it. */
interface Change {
  of(project: Project): EntityData<Project>;
  message: string;
}

/** Returns the change that an action makes; null for an unknown action. */
function changeOf(action: string, amount = ''): Change | null {
  if (action === 'enable') return { of: () => ({ disabled: false, disabledReason: null }), message: 'is enabled' };
  if (action === 'disable')
    return {
      of: (project) => ({ disabled: true, disabledReason: project.disabledReason ?? 'MANUAL' }),
      message: 'is disabled',
    };
  if (action !== 'rate') return null;
  if (amount === 'default')
    return { of: () => ({ sendRate: null }), message: 'sends as fast as SEND_RATE_PER_PROJECT lets it' };
  const rate = /^\d{1,9}$/.test(amount) ? Number(amount) : 0;
  return rate > 0 ? { of: () => ({ sendRate: rate }), message: `sends at most ${rate} messages a second` } : null;
}

function changeProject(db: Database, id: string, { of, message }: Change): Promise<string> {
  return db.transaction(async ({ em }) => {
    const project = await em.findOne(Project, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (project === null) throw new Error(`there is no project ${id}`);
    em.assign(project, of(project));
    return `Project "${project.name}" ${message}`;
  });
}

async function approve(db: Database, id: string, domain: string | undefined): Promise<string> {
  if (domain !== undefined) {
    if (!(await approveDomain(db, id, domain.toLowerCase()))) throw new Error(`project ${id} has no domain ${domain}`);
    return `${domain} may send once it is verified; the daily limit of its project stays`;
  }
  const name = await approveProject(db, id);
  if (name === null) throw new Error(`there is no project ${id}`);
  return `Project "${name}" is approved: its domains may send once they are verified, without a daily limit`;
}

function restored(decision: string): ((db: Database) => Promise<string>) | null {
  if (decision === '') return async (db) => JSON.stringify(await restoreReports(db), null, 2);
  if (decision === 'skip')
    return async (db) =>
      (await skipSearch(db))
        ? 'The search is given up: mail that may have been sent waits for your decision, and all other mail goes'
        : 'No search is under way';
  if (decision !== 'send' && decision !== 'fail') return null;
  return async (db) => {
    const mails = await decideRestored(db, decision);
    return decision === 'send' ? `${mails} mails are sent` : `${mails} mails have failed as "submission unknown"`;
  };
}

function events(decision: string): ((db: Database) => Promise<string>) | null {
  const work = {
    '': async (client: ClientBase) => JSON.stringify(await eventParts(client), null, 2),
    divide: (client: ClientBase) => divideEvents(client, retentionOf(readConfigOrExit([])), new Date(), pace),
    undivide: (client: ClientBase) => undivideEvents(client, pace),
  }[decision];
  if (work === undefined) return null;
  return async (db) => {
    const client = await db.pool.connect();
    try {
      return await work(client);
    } finally {
      client.release();
    }
  };
}

// As slowly as a migration, since nothing is to be done for an operator who waits but to wait.
const pace = { ...partPace, lockTries: 200, say: (line: string) => console.log(line) };

function retentionOf({ EVENT_RETENTION_DAYS: days, CONTACT_HISTORY_DAYS: leastDays }: Config): Retention {
  return { days, leastDays };
}

/** Returns the work of an action, which resolves to the text to print; null when the arguments name none. */
function workOf(args: readonly string[]): ((db: Database) => Promise<string>) | null {
  const [action = '', id = '', more] = args;
  if (action === 'restored') return restored(id);
  if (action === 'events') return events(id);
  if (action === 'waiting') return async (db) => JSON.stringify(await waitingProjects(db), null, 2);
  if (!isUuid(id)) return null;
  if (action === 'approve') return (db) => approve(db, id, more);
  const change = changeOf(action, more);
  return change && ((db) => changeProject(db, id, change));
}

const args = process.argv.slice(2);
const work = workOf(args);

if (args[0] === 'create') process.exitCode = await createByHand(args.slice(1));
else if (work === null) {
  for (const line of usage) console.error(`fernpost: usage: ${line}`);
  process.exitCode = 2;
} else {
  const { DATABASE_URL: url } = readConfigOrExit(['DATABASE_URL']);
  const settings = { url: url ?? '', poolSize: 1, applicationName: 'fernpost-project' };
  await using store = await openStore(settings, [User, Project, Domain]);
  try {
    console.log(await work(store.db));
  } catch (error) {
    console.error(`fernpost: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
