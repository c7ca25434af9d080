import type { buildConnector } from 'undici';
import { type LinkSettings, recipientLinks } from '../../content/rendering/index.ts';
import { isoInstant } from '../../core/database/columns.ts';
import { type Database, type Sql, statement } from '../../core/database/sql.ts';
import type { JsonObjectValue } from '../../core/lib/json.ts';
import {
  type CallLimits,
  callLimits,
  callOut,
  type IncomingAnswer,
  NoAnswer,
  type OutgoingRequest,
} from '../../core/net/outgoing/call.ts';
import { AddressRefused } from '../../core/net/outgoing/guard.ts';
import { type GraphStep, stepOf } from '../graph.ts';
import type { StepConfigs } from '../step-configs.ts';
import { pinnedVersion } from '../versions.ts';
import { StepFailure } from './failure.ts';
import { configOf } from './steps.ts';
import type { StepContact } from './values.ts';
import { keptResponse, webhookRequest } from './webhook-request.ts';

/** What calling webhooks needs. */
export interface WebhookStepDeps {
  db: Database;
  links: LinkSettings;
  /** Opens connections; see `guardedConnector`. */
  connect: buildConnector.connector;
  limits?: CallLimits;
}

/** How a call went. `again`: the step asks for another attempt after so many milliseconds. */
export type WebhookCall = { outcome: 'recorded' } | { outcome: 'again'; afterMs: number; reason: string };

interface Called {
  id: string;
  runId: string;
  stepId: string;
  projectId: string;
  context: JsonObjectValue | null;
  versionId: string;
  startedAt: string;
  automation: { id: string; name: string };
  contact: StepContact;
  unwritten: number;
  repeated: number;
}

// A step that was called already, or whose run has ended, is found no more.
const find = statement(
  'automation_runs.webhook',
  `select x.id, x.run_id as "runId", x.step_id as "stepId", r.project_id as "projectId", r.context,
     r.version_id as "versionId", r.started_at::text as "startedAt",
     jsonb_build_object('id', a.id, 'name', a.name) as automation,
     jsonb_build_object('id', c.id, 'email', c.email, 'subscribed', c.subscribed, 'data', c.data,
       'createdAt', c.created_at::text, 'updatedAt', c.updated_at::text) as contact,
     x.unwritten_calls as unwritten, x.repeated_calls as repeated
   from automation_step_runs x join automation_runs r on r.id = x.run_id join automations a on a.id = r.automation_id
     join contacts c on c.id = r.contact_id
   where x.id = $1 and x.status = 'RUNNING' and x.output is null and x.error is null
     and r.status in ('RUNNING', 'WAITING')`,
);
const record = statement(
  'automation_runs.record_webhook',
  `update automation_step_runs set output = $2::jsonb, error = $3, input = coalesce(input, '{}') || $4::jsonb,
     updated_at = now()
   where id = $1 and status = 'RUNNING' and output is null and error is null`,
);
const countCall = statement(
  'automation_runs.count_call',
  `update automation_step_runs set unwritten_calls = unwritten_calls + $2, repeated_calls = repeated_calls + $3,
     updated_at = now()
   where id = $1`,
);

// Contract page 2, 3.3.
const unwrittenRetries = 2;
const shortestPauseMs = 2_000;
const longestPauseMs = 60_000;

/**
 * Calls the webhook of a step execution and writes down the answer, or why there is none. A step that has been called is not
 * called again. A crash between the call and its record repeats the call: receivers tell by the delivery header.
 */
export async function callWebhook(deps: WebhookStepDeps, stepRunId: string, signal: AbortSignal): Promise<WebhookCall> {
  const { db } = deps;
  const called = await db.row<Called>(find, [stepRunId]);
  if (called === null) return { outcome: 'recorded' };
  const step = await stepBehind(db, called);
  try {
    if (step === null) throw new StepFailure('The step is no longer part of the graph');
    const config = configOf('WEBHOOK', step);
    const request = requestOf(deps, called, config);
    return await call(deps, called, config, request, signal);
  } catch (error) {
    if (!(error instanceof StepFailure) && !(error instanceof AddressRefused)) throw error;
    await db.count(record, [called.id, null, error.message, '{}']);
    return { outcome: 'recorded' };
  }
}

async function call(
  { db, connect, limits = callLimits }: WebhookStepDeps,
  called: Called,
  config: StepConfigs['WEBHOOK'],
  request: OutgoingRequest,
  signal: AbortSignal,
): Promise<WebhookCall> {
  const url = request.url.href;
  const input = JSON.stringify({ url, method: request.method });
  const mayRepeat = called.repeated < config.retries;
  let answer: IncomingAnswer;
  try {
    answer = await callOut(connect, request, signal, limits);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    if (!error.written && called.unwritten < unwrittenRetries) {
      await db.count(countCall, [called.id, 1, 0]);
      return { outcome: 'again', afterMs: pauseMs(called.unwritten), reason: error.message };
    }
    if (mayRepeat) return repeat(db, called, error.message);
    await db.count(record, [called.id, null, error.message, input]);
    return { outcome: 'recorded' };
  }
  const { statusCode, truncated } = answer;
  if (mayRepeat && (statusCode === 429 || statusCode >= 500)) return repeat(db, called, `the answer was ${statusCode}`);
  const success = statusCode >= 200 && statusCode < 300;
  const output = {
    url,
    method: request.method,
    statusCode,
    success,
    response: keptResponse(answer.body, truncated),
    ...(truncated ? { truncated } : {}),
  };
  const error = config.failOnError && !success ? `The receiver answered ${statusCode}` : null;
  await db.count(record, [called.id, JSON.stringify(output), error, input]);
  return { outcome: 'recorded' };
}

async function repeat(db: Database, called: Called, reason: string): Promise<WebhookCall> {
  await db.count(countCall, [called.id, 0, 1]);
  return { outcome: 'again', afterMs: pauseMs(called.repeated), reason };
}

function pauseMs(before: number): number {
  return Math.min(longestPauseMs, shortestPauseMs * 2 ** before);
}

function requestOf({ links }: WebhookStepDeps, called: Called, config: StepConfigs['WEBHOOK']): OutgoingRequest {
  const { contact, context, automation } = called;
  return webhookRequest(config, {
    contact: { ...contact, createdAt: isoInstant(contact.createdAt), updatedAt: isoInstant(contact.updatedAt) },
    context,
    urls: recipientLinks(links, contact.id, null),
    stepRunId: called.id,
    automation,
    run: { id: called.runId, startedAt: isoInstant(called.startedAt) },
  });
}

async function stepBehind(sql: Sql, { versionId, stepId }: Called): Promise<GraphStep | null> {
  const version = await pinnedVersion(sql, versionId);
  return (version && stepOf(version.graph, stepId)) ?? null;
}
