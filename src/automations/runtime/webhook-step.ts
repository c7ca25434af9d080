import { stepOf } from '@fernpost/workflow-graph';
import type { buildConnector } from 'undici';
import {
  type CallLimits,
  callLimits,
  callOut,
  type IncomingAnswer,
  NoAnswer,
  type OutgoingRequest,
} from '../../http/guarded-requests/call.ts';
import { AddressRefused } from '../../http/guarded-requests/guard.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';
import { type LinkSettings, recipientLinks } from '../../templates/content/links.ts';
import type { StepConfigs } from '../graph/step-configs.ts';
import { isActive } from '../rows.ts';
import { pinnedVersion } from '../versions.ts';
import type { StepContact } from './condition.ts';
import { StepFailure } from './directive.ts';
import { configOf } from './steps.ts';
import { keptResponse, webhookRequest } from './webhook-request.ts';

/** The dependencies of calling webhooks. */
export interface WebhookStepDeps {
  db: Database;
  links: LinkSettings;
  /** Opens connections; see `guardedConnector`. */
  connect: buildConnector.connector;
  limits?: CallLimits;
}

/** How a call went. `again`: the step asks for another attempt after so many milliseconds. */
export type StepCall = { outcome: 'recorded' } | { outcome: 'again'; afterMs: number; reason: string };

interface Called {
  id: string;
  runId: string;
  stepId: string;
  context: JsonObjectValue | null;
  versionId: string;
  startedAt: string;
  automation: { id: string; name: string };
  contact: StepContact;
  unwritten: number;
  repeated: number;
}

// docs/contract/campaigns-and-workflows.md#3-3.
const unwrittenRetries = 2;
const shortestPauseMs = 2_000;
const longestPauseMs = 60_000;

/**
 * Calls the webhook of a step execution and writes down the answer, or why there is none. A step that has been called is not
 * called again. A crash between the call and its record repeats the call: receivers recognize it by the delivery header.
 */
export async function callWebhook(deps: WebhookStepDeps, stepRunId: string, signal: AbortSignal): Promise<StepCall> {
  const { db } = deps;
  const called = await findCall(db, stepRunId);
  if (called === null) return { outcome: 'recorded' };
  const version = await pinnedVersion(db, called.versionId);
  const step = version && stepOf(version.graph, called.stepId);
  try {
    if (!step) throw new StepFailure('The step is no longer part of the graph');
    const config = configOf('WEBHOOK', step);
    const request = requestOf(deps, called, config);
    return await call(deps, called, config, request, signal);
  } catch (error) {
    if (!(error instanceof StepFailure) && !(error instanceof AddressRefused)) throw error;
    await record(db, called, null, error.message, {});
    return { outcome: 'recorded' };
  }
}

async function call(
  { db, connect, limits = callLimits }: WebhookStepDeps,
  called: Called,
  config: StepConfigs['WEBHOOK'],
  request: OutgoingRequest,
  signal: AbortSignal,
): Promise<StepCall> {
  const url = request.url.href;
  const input = { url, method: request.method };
  const mayRepeat = called.repeated < config.retries;
  let answer: IncomingAnswer;
  try {
    answer = await callOut(connect, request, signal, limits);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    if (!error.written && called.unwritten < unwrittenRetries) return repeat(db, called, 'unwritten', error.message);
    if (mayRepeat) return repeat(db, called, 'repeated', error.message);
    await record(db, called, null, error.message, input);
    return { outcome: 'recorded' };
  }
  const { statusCode, truncated } = answer;
  if (mayRepeat && (statusCode === 429 || statusCode >= 500))
    return repeat(db, called, 'repeated', `the answer was ${statusCode}`);
  const success = statusCode >= 200 && statusCode < 300;
  const output = {
    ...input,
    statusCode,
    success,
    response: keptResponse(answer.body, truncated),
    ...(truncated ? { truncated } : {}),
  };
  const error = config.failOnError && !success ? `The receiver answered ${statusCode}` : null;
  await record(db, called, output, error, input);
  return { outcome: 'recorded' };
}

// A step that was called already, or whose run has ended, is found no more.
function findCall(db: Database, stepRunId: string): Promise<Called | null> {
  return db.row<Called>(sql`
    select x.id, x.run_id as "runId", x.step_id as "stepId", r.context, r.version_id as "versionId",
      ${raw(isoText('r.started_at'))} as "startedAt", jsonb_build_object('id', a.id, 'name', a.name) as automation,
      jsonb_build_object('id', c.id, 'email', c.email, 'subscribed', c.subscribed, 'data', c.data,
        'createdAt', ${raw(isoText('c.created_at'))}, 'updatedAt', ${raw(isoText('c.updated_at'))}) as contact,
      x.unwritten_calls as unwritten, x.repeated_calls as repeated
    from automation_step_runs x join automation_runs r on r.id = x.run_id join automations a on a.id = r.automation_id
      join contacts c on c.id = r.contact_id
    where x.id = ${stepRunId} and x.status = 'RUNNING' and x.output is null and x.error is null
      and r.${isActive}`);
}

function record(
  db: Database,
  called: Called,
  output: object | null,
  error: string | null,
  input: object,
): Promise<void> {
  return note(db, called, { output, error, input });
}

// Calls that were not written and calls that were are counted apart, each with its own pauses.
async function repeat(
  db: Database,
  called: Called,
  count: 'unwritten' | 'repeated',
  reason: string,
): Promise<StepCall> {
  await note(db, called, { [count]: 1 });
  return { outcome: 'again', afterMs: pauseMs(called[count]), reason };
}

interface CallNote {
  output?: object | null;
  error?: string | null;
  input?: object;
  unwritten?: number;
  repeated?: number;
}

async function note(
  db: Database,
  { id }: Called,
  { output = null, error = null, input = {}, unwritten = 0, repeated = 0 }: CallNote,
): Promise<void> {
  await db.count(sql`
    update automation_step_runs set output = ${output}, error = ${error}, input = coalesce(input, '{}') || ${input}::jsonb,
      unwritten_calls = unwritten_calls + ${unwritten}, repeated_calls = repeated_calls + ${repeated}, updated_at = now()
    where id = ${id} and status = 'RUNNING' and output is null and error is null`);
}

function pauseMs(before: number): number {
  return Math.min(longestPauseMs, shortestPauseMs * 2 ** before);
}

function requestOf({ links }: WebhookStepDeps, called: Called, config: StepConfigs['WEBHOOK']): OutgoingRequest {
  const { id, runId, startedAt, contact, context, automation } = called;
  const urls = recipientLinks(links, contact.id, null);
  return webhookRequest(config, { contact, context, urls, stepRunId: id, automation, run: { id: runId, startedAt } });
}
