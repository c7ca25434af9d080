import { type OperationId, operationTable } from '@fernpost/sdk';
import pLimit from 'p-limit';
import * as v from 'valibot';
import { campaignAudience } from '../../campaigns/service.ts';
import type { App, Handled, KeyActor, RequestProject, RouteCaller } from '../../http/context.ts';
import { reply, route } from '../../http/route.ts';
import type { ReviewFacts } from '../../launches/review/findings.ts';
import { AppError, conflict } from '../../lib/errors.ts';
import { version } from '../../lib/text.ts';
import { field } from '../../lib/validation/fields.ts';
import type { OutboxTicket } from '../../store/outbox/queries.ts';
import type { Database } from '../../store/sql.ts';
import { findTemplate } from '../../templates/queries.ts';
import { planFacts, WaitingPlan } from './facts.ts';
import { commitPlan, decidePlan, keepPlan, type PlanOwner, type PlanVerdict, waitingPlans } from './plans.ts';
import type { McpContext, PlannedAction } from './server.ts';

// A commit holds a connection while what it calls may need another one.
const commits = pLimit(4);

/** The mode of a key without a setting, and of the secret key of a project. */
const readOnly = { mode: 'read', mostRecipients: 0, needsHuman: 'always' } as const;

/** The tools of language models (docs/contract/reach.md#5-mcp). */
export const mcpRoutes = [
  route.post('/mcp', {
    access: 'secret',
    // Each tool needs the scope of what it calls.
    scope: 'any',
    tag: 'MCP',
    summary: 'Tools for language models (Model Context Protocol)',
    operationId: 'callMcp',
    description:
      'Streamable HTTP without a session: one JSON-RPC message, answered as JSON. Tools read, make plans, and carry a plan out once. The setting `mcp` of the key says which of them it has.',
    bodyKind: 'raw',
    bodyLimit: 'data',
    bodyForm: {
      type: 'application/json',
      fields: {
        jsonrpc: { type: 'string', description: 'The version of JSON-RPC: `2.0`.' },
        id: {
          oneOf: [{ type: 'string' }, { type: 'integer' }],
          description: 'Identifies the request; a notification has none.',
        },
        method: { type: 'string', description: 'What to do, such as `tools/call`.' },
      },
      optional: ['id'],
      example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    },
    returns: {
      200: 'The JSON-RPC response to the message.',
      202: 'The message is accepted and needs no response, as a notification does. The body is empty.',
    },
    reply: v.looseObject({ jsonrpc: field('Version of JSON-RPC: `2.0`.', v.literal('2.0')) }),
    errorReply: v.looseObject({
      jsonrpc: field(
        'Version of JSON-RPC: `2.0`; absent in the envelope of other errors.',
        v.optional(v.literal('2.0')),
      ),
      error: field(
        'Why the request failed, as in JSON-RPC or as in the envelope.',
        v.looseObject({ message: field('Why the request failed, as a sentence.', v.string()) }),
      ),
    }),
    async handle(input) {
      const body = (input.body as unknown as Buffer).toString('utf8');
      const protocolVersion = input.header('mcp-protocol-version');
      // Loaded with the first call: with its schemas it takes 10 MB, which a service that no model uses has no need of.
      const { answerMcp } = await import('./server.ts');
      const answer = await answerMcp(contextOf(input), { body, protocolVersion });
      return reply(answer.status, answer.body === '' ? undefined : answer.body, { 'Content-Type': 'application/json' });
    },
  }),
  route.get('/projects/:id/mcp-plans', {
    access: 'project',
    tag: 'MCP',
    summary: 'List plans of language models that wait for approval',
    returns: 'The plans that wait for approval, oldest first; up to 100.',
    reply: v.array(WaitingPlan),
    handle: ({ db, project }) => waitingPlans(db, project.id),
  }),
  route.post('/projects/:id/mcp-plans/:planId/approve', {
    access: 'project',
    role: 'ADMIN',
    refusesKeys: true,
    tag: 'MCP',
    summary: 'Approve a plan of a language model',
    operationId: 'approveMcpPlan',
    description:
      'It can be committed until it expires, for ten minutes at least. Where something has changed since it was planned, the commit returns 409 `PLAN_STALE`.',
    ids: { planId: 'plan' },
    status: 204,
    returns: 'The plan is approved; nothing is carried out until the language model commits it.',
    handle: (input) => decide(input, 'approved'),
  }),
  route.post('/projects/:id/mcp-plans/:planId/refuse', {
    access: 'project',
    role: 'ADMIN',
    refusesKeys: true,
    tag: 'MCP',
    summary: 'Refuse a plan of a language model',
    operationId: 'refuseMcpPlan',
    description: 'It is never carried out: a commit answers 409 `PLAN_REFUSED`.',
    ids: { planId: 'plan' },
    status: 204,
    returns: 'The plan is refused.',
    handle: (input) => decide(input, 'refused'),
  }),
];

async function decide(
  {
    db,
    project,
    params,
    actor,
  }: Pick<Handled<unknown, unknown, 'project'>, 'db' | 'project' | 'actor'> & { params: { planId: string } },
  decision: PlanVerdict,
) {
  if (actor.kind === 'user')
    await decidePlan(db, { projectId: project.id, userId: actor.userId }, params.planId, decision);
}

interface OperationInput {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

interface Call {
  app: App;
  db: Database;
  project: RequestProject;
  actor: KeyActor;
  requestId: string;
  ip: string;
  header(name: string): string;
}

function contextOf({ app, db: asked, project, actor, requestId, ip, header }: Call): McpContext {
  const { author } = asked;
  const db = asked.session(author && { ...author, kind: 'mcp' });
  const settings = actor.scoped?.mcp ?? readOnly;
  const run = (
    id: OperationId,
    input: OperationInput,
    { tx, of = app, plan }: { tx: Database; of?: App; plan?: RouteCaller['plan'] },
  ) => {
    const [method, path] = operationTable[id];
    const { path: params = {}, query = {}, body = {} } = input;
    const caller = { app: of, db: tx, requestId, ip, header, ...(plan && { plan }) };
    return app.callRoute({ method, path, params, query, body }, caller);
  };
  const owner = (): PlanOwner => {
    if (actor.scoped === null) throw conflict('The secret key of a project makes no plans: use a key with scopes');
    const approvalUrl = `${app.config.DASHBOARD_URI}/app/${project.id}/settings?tab=keys`;
    return { projectId: project.id, key: { ...actor.scoped, mcp: settings }, approvalUrl };
  };
  const factsOf = (tx: Database, plan: Parameters<typeof planFacts>[2]) => planFacts(tx, project.id, plan, app.clock());
  // Tried and taken back, so that what a commit would refuse is refused while the plan is made.
  const rehearse = (action: PlannedAction) =>
    commits(async () => {
      const tried: { facts: ReviewFacts } = { facts: {} };
      await db
        .transaction(async (tx) => {
          tried.facts = await factsOf(tx, action);
          await run(action.operation, action.input, { tx, of: waitingApp(app, tx), plan: 'tried' });
          throw new TakenBack();
        })
        .catch((error) => {
          if (!(error instanceof TakenBack)) throw error;
        });
      return tried.facts;
    });
  return {
    version,
    mode: settings.mode,
    call: ((id: OperationId, input: OperationInput = {}) =>
      explained(app, run(id, input, { tx: db }))) as McpContext['call'],
    audienceOf: (campaignId) => campaignAudience(db, project.id, campaignId, app.clock()),
    plan: (action) =>
      explained(
        app,
        keepPlan(db, owner(), action, () => rehearse(action)),
      ),
    async commit(planId) {
      const waiting: (() => void)[] = [];
      const commit = () =>
        commitPlan(db, owner(), planId, {
          factsNow: factsOf,
          act: async (tx, plan) => {
            const of = waitingApp(app, tx, waiting);
            return { result: await run(plan.operation, plan.input, { tx, of, plan: 'carriedOut' }) };
          },
        });
      const done = await explained(app, commits(commit));
      for (const call of waiting) call();
      return done;
    },
  };
}

/** Thrown to take back what a rehearsal has written. */
class TakenBack extends Error {}

/** The app with what must not come before the commit kept in `waiting`, and with templates as the transaction sees them. */
function waitingApp(app: App, tx: Database, waiting: (() => void)[] = []): App {
  const outbox = Object.create(app.outbox, {
    dispatchSoon: {
      value: (...tickets: readonly OutboxTicket[]) => waiting.push(() => app.outbox.dispatchSoon(...tickets)),
    },
  }) as App['outbox'];
  const waker = {
    ...app.waker,
    wake: (...of: Parameters<typeof app.waker.wake>) => void waiting.push(() => app.waker.wake(...of)),
  };
  const templates = { find: (projectId: string, id: string) => findTemplate(tx, projectId, id) };
  return { ...app, outbox, waker, templates };
}

/** A refusal is for the model; anything else is for the log. */
async function explained<Value>(app: App, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError && error.status < 500) throw error;
    app.log.error({ err: error }, 'a tool failed');
    throw new AppError(
      409,
      'TRY_AGAIN',
      'The service could not do this now. Repeat the call; a plan is carried out once.',
    );
  }
}
