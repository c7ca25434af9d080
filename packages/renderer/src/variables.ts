import { contactKeys } from '@fernpost/earlier-name';

/**
 * Names that always mean what the service says, whatever a contact or a request calls its own values
 * (docs/contract/core.md#2-4).
 */
export const reservedNames: ReadonlySet<string> = new Set([
  'data',
  'fernpost_id',
  'fernpost_email',
  ...Object.values(contactKeys),
  'id',
  'email',
  'subscribed',
  'locale',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
]);

/** Reserved names whose values only the service itself can write, so that they are never escaped. */
export const ownNames: ReadonlySet<string> = new Set([
  'fernpost_id',
  contactKeys.id,
  'id',
  'subscribed',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
]);

/** The recipient's pages, as complete URLs. */
export interface RecipientUrls {
  unsubscribeUrl: string;
  subscribeUrl: string;
  manageUrl: string;
}

/** The facts about a contact that templates see. */
export interface TemplateContact {
  id: string;
  email: string;
  subscribed: boolean;
  data: Readonly<Record<string, unknown>>;
}

/** The sources of variables. */
export interface VariableSources {
  contact: TemplateContact;
  /** The `data` of the request; a `{ value, persistent: false }` stands for its value. Its keys win over the contact's. */
  requestData?: Readonly<Record<string, unknown>> | null | undefined;
  /** The context of an automation's run: visible as `event`, and its keys at the top, where they win over the contact's. */
  event?: Readonly<Record<string, unknown>> | null | undefined;
  urls: RecipientUrls;
  /** Gets the expression of each output that prints nothing because its value is missing, where somebody asks. */
  missing?: Set<string> | null | undefined;
}

/**
 * The variables of one message. A name is looked up in `reserved`, then in `context`, then in `data`. The keys in
 * `trusted` came with the request itself and are inserted into HTML as they are; everything else in `context` and `data`
 * may have been written by a stranger. Null stands for none.
 */
export interface Variables {
  readonly reserved: Readonly<Record<string, unknown>>;
  readonly context: Readonly<Record<string, unknown>> | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly trusted: ReadonlySet<string> | null;
  readonly missing?: Set<string> | null;
}

/** Joins a contact, the data of a request, an automation's context and the recipient's URLs into variables. */
export function buildVariables({ contact, requestData, event, urls, missing = null }: VariableSources): Variables {
  const request = requestData ? unwrap(requestData) : null;
  const data = request ? { ...contact.data, ...request } : contact.data;
  const context = event ? unwrap(event) : null;
  const locale = ownValue(contact.data, 'locale');
  const reserved = {
    data,
    fernpost_id: contact.id,
    fernpost_email: contact.email,
    [contactKeys.id]: contact.id,
    [contactKeys.email]: contact.email,
    id: contact.id,
    email: contact.email,
    subscribed: contact.subscribed,
    locale: typeof locale === 'string' ? locale : null,
    unsubscribeUrl: urls.unsubscribeUrl,
    subscribeUrl: urls.subscribeUrl,
    manageUrl: urls.manageUrl,
  };
  return {
    reserved: context ? { ...reserved, event: context } : reserved,
    context,
    data,
    trusted: request ? new Set(Object.keys(request)) : null,
    missing,
  };
}

/** The value of a top-level name, or undefined. */
export function lookUp(variables: Variables, name: string): unknown {
  if (Object.hasOwn(variables.reserved, name)) return variables.reserved[name];
  if (variables.context !== null && Object.hasOwn(variables.context, name)) return variables.context[name];
  return Object.hasOwn(variables.data, name) ? variables.data[name] : undefined;
}

/** Whether a value prints as nothing. */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** All variables as one new object, as Liquid wants them. */
export function flatten(variables: Variables): Record<string, unknown> {
  return { ...variables.data, ...variables.context, ...variables.reserved };
}

/** Whether a value of `data` is `{ value, persistent: false }`: for this request only (docs/contract/core.md#2-1). */
export function isTransient(value: unknown): value is { value: unknown; persistent: false } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.hasOwn(value, 'value') &&
    (value as { persistent?: unknown }).persistent === false
  );
}

function unwrap(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data)) {
    if (key !== '__proto__') plain[key] = isTransient(value) ? value.value : value;
  }
  return plain;
}

function ownValue(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
