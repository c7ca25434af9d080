import { deliveryHeader } from '@fernpost/earlier-name';
import {
  buildVariables,
  Filled,
  type ParsedTemplate,
  prepareTemplate,
  type RecipientUrls,
  renderFully,
  renderLimits,
  StepLimitError,
  type Variables,
} from '@fernpost/renderer';
import { LRUCache } from 'lru-cache';
import type { OutgoingRequest } from '../../http/guarded-requests/call.ts';
import type { JsonObjectValue, JsonValue } from '../../lib/contact-data.ts';
import { literalOrigin } from '../graph/webhook-config.ts';
import type { StepFacts } from './condition.ts';
import { StepFailure } from './directive.ts';

/** A WEBHOOK's config as far as the request is concerned. */
export interface WebhookRequestConfig {
  url: string;
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | null | undefined;
  body?: unknown;
}

/** The values that a webhook sends besides those of its contact. */
export interface WebhookFacts extends StepFacts {
  urls: RecipientUrls;
  /** The step execution: receivers recognize repeated deliveries by it. */
  stepRunId: string;
  automation: { id: string; name: string };
  run: { id: string; startedAt: string };
}

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
// Those that frame the message are the client's own affair, others speak of this one connection, and what is compressed would
// not be read.
const ignoredHeaders = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'proxy-connection',
  'accept-encoding',
  'x-fernpost-delivery',
  deliveryHeader,
]);
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there.
const controlCharacters = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/**
 * Renders the request of a WEBHOOK step (docs/contract/campaigns-and-workflows.md#3-3).
 * @throws StepFailure for a config that makes no request: an address, a method or a header that cannot be sent
 */
export function webhookRequest(config: WebhookRequestConfig, facts: WebhookFacts): OutgoingRequest {
  const variables = buildVariables({ contact: facts.contact, event: facts.context, urls: facts.urls });
  const filling: Filling = { variables, steps: 0 };
  const method = config.method ?? 'POST';
  if (!methods.has(method)) throw new StepFailure(`"${method}" is not a method that a webhook may use`);
  const body =
    method === 'GET'
      ? null
      : JSON.stringify(config.body ? filledIn(config.body as JsonValue, filling) : defaultBody(facts));
  return {
    url: webhookUrl(config.url, filling),
    method,
    headers: webhookHeaders(config.headers ?? {}, filling),
    ownHeaders: { 'x-fernpost-delivery': facts.stepRunId, [deliveryHeader]: facts.stepRunId },
    body,
  };
}

function webhookUrl(source: string, filling: Filling): URL {
  const trimmed = source.trim();
  const origin = literalOrigin(trimmed);
  if (origin === null)
    throw new StepFailure('"url" must begin with http:// or https:// and a host, without variables in either');
  const url = URL.parse(rendered(trimmed, filling));
  if (url === null || url.origin !== origin.origin)
    throw new StepFailure('The rendered "url" is not an address of its own host');
  if (url.username !== '' || url.password !== '')
    throw new StepFailure('"url" must not hold a user name or password: send an Authorization header instead');
  return url;
}

function webhookHeaders(source: Readonly<Record<string, string>>, filling: Filling): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'fernpost' };
  for (const [name, template] of Object.entries(source)) {
    const key = name.trim().toLowerCase();
    if (ignoredHeaders.has(key)) continue;
    if (!headerName.test(key)) throw new StepFailure(`"${name}" is no name of a header`);
    const value = rendered(String(template), filling);
    if (controlCharacters.test(value))
      throw new StepFailure(`The value of the header "${name}" contains a line break or another control character`);
    // Bytes of UTF-8 travel as the Latin-1 characters that HTTP/1.1 knows.
    headers[key] = Buffer.from(value).toString('latin1').trim();
  }
  return headers;
}

function filledIn(value: JsonValue, filling: Filling): JsonValue {
  if (typeof value === 'string') return rendered(value, filling);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => filledIn(item, filling));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filledIn(inner, filling)]));
}

function defaultBody({ contact, context, automation, run }: WebhookFacts): JsonObjectValue {
  return {
    contact: { email: contact.email, subscribed: contact.subscribed, data: contact.data },
    workflow: { id: automation.id, name: automation.name },
    execution: { id: run.id, startedAt: run.startedAt },
    event: context ?? {},
  };
}

/** The values that the texts of one request are filled in with, and the steps that took. */
interface Filling {
  variables: Variables;
  steps: number;
}

// All texts of a request together have the steps of one message.
function rendered(source: string, filling: Filling): string {
  try {
    const { text, steps } = renderFully(templateOf(source), filling.variables, Filled.empty);
    filling.steps += steps;
    if (filling.steps > renderLimits.steps) throw new StepLimitError('The texts of the webhook take too many steps');
    return String(text);
  } catch (error) {
    if (error instanceof StepLimitError) throw new StepFailure(error.message);
    throw error;
  }
}

// Steps are few and run often.
const prepared = new LRUCache<string, ParsedTemplate>({ max: 2_000 });

function templateOf(source: string): ParsedTemplate {
  const known = prepared.get(source);
  if (known !== undefined) return known;
  const template = prepareTemplate(source, { mode: 'text' });
  if (source.length <= 10_000) prepared.set(source, template);
  return template;
}

/** The answer of a receiver as it is kept for later steps: parsed JSON, or text. */
export function keptResponse(body: Buffer, truncated: boolean): JsonValue {
  const text = new TextDecoder().decode(body);
  if (!truncated) {
    try {
      return storable(JSON.parse(text) as JsonValue, 100);
    } catch {
      // Not JSON, or nested more deeply than anybody's data is.
    }
  }
  return storableText(text);
}

// Postgres takes neither the character NUL nor half of a surrogate pair into jsonb.
function storable(value: JsonValue, levels: number): JsonValue {
  if (typeof value === 'string') return storableText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) throw new RangeError('nested too deeply');
  if (Array.isArray(value)) return value.map((item) => storable(item, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storableText(key), storable(inner, levels - 1)]),
  );
}

function storableText(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
