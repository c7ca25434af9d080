import { isTransient } from '@fernpost/renderer';
import { type JsonObjectValue, type JsonValue, valueAtPath } from '../../core/lib/json.ts';

/** The contact as steps see it; instants are ISO 8601. */
export interface StepContact {
  id: string;
  email: string;
  subscribed: boolean;
  data: JsonObjectValue;
  createdAt: string;
  updatedAt: string;
}

/** What the values that a step names are read from. */
export interface StepFacts {
  /** As it is when the step runs. */
  contact: StepContact;
  /** The run's context, null for none. */
  context: JsonObjectValue | null;
}

const contactFields: Record<string, (contact: StepContact) => JsonValue> = {
  id: (contact) => contact.id,
  email: (contact) => contact.email,
  subscribed: (contact) => contact.subscribed,
  createdAt: (contact) => contact.createdAt,
  updatedAt: (contact) => contact.updatedAt,
};

/**
 * The value of a field as CONDITION names it (docs/contract/campaigns-and-workflows.md#3-3): `contact.email` and the other fields
 * of a contact, `data.<key>` or `contact.data.<key>`, `event.<key>` or `workflow.<key>`. Undefined where there is none.
 */
export function fieldValue(field: string, { contact, context }: StepFacts): JsonValue | undefined {
  const [root = '', ...rest] = field.split('.');
  const path = rest.join('.');
  if (root === 'data') return valueAt(contact.data, path);
  if (root === 'event' || root === 'workflow') return context === null ? undefined : valueAt(context, path);
  if (root !== 'contact') return undefined;
  if (rest[0] === 'data') return valueAt(contact.data, rest.slice(1).join('.'));
  return Object.hasOwn(contactFields, path) ? contactFields[path]?.(contact) : undefined;
}

function valueAt(data: JsonObjectValue, path: string): JsonValue | undefined {
  return path === '' ? undefined : valueAtPath(data, path);
}

/**
 * The data of an event as runs see it: a `{ value, persistent: false }` stands for its value
 * (docs/contract/campaigns-and-workflows.md#3-2).
 */
export function contextOf(data: JsonObjectValue): JsonObjectValue {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, isTransient(value) ? (value.value as JsonValue) : value]),
  );
}

/** The context after an awaited event: merged shallowly, newer keys win (docs/contract/campaigns-and-workflows.md#3-3). */
export function mergeContext(
  context: JsonObjectValue | null,
  eventData: JsonObjectValue | null,
): JsonObjectValue | null {
  if (eventData === null) return context;
  return context === null ? eventData : { ...context, ...eventData };
}

/** What the output of a DELAY says of its length, from the record of its config. */
export function unitsOfDelay(input: JsonObjectValue | null): JsonObjectValue {
  return { delayAmount: input?.amount ?? null, delayUnit: input?.unit ?? null };
}
