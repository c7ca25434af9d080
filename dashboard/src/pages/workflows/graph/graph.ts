import { branchNames, reachableFrom } from '@fernpost/workflow-graph';
import { eventText } from '../../../words/events.ts';
import type { PathCounts, Step, StepType, Transition } from './shapes.ts';

/** The size of a step on the canvas, in pixels of the graph; its height is that of its usual content. */
export const stepSize = { width: 240, height: 104 };

/** How the types of steps are called. */
export const stepNames: Record<StepType, string> = {
  TRIGGER: 'Trigger',
  SEND_EMAIL: 'Send email',
  DELAY: 'Delay',
  WAIT_FOR_EVENT: 'Wait for event',
  WAIT_UNTIL: 'Wait until',
  CONDITION: 'Condition',
  SPLIT: 'Split',
  WEBHOOK: 'Webhook',
  UPDATE_CONTACT: 'Update contact',
  EXIT: 'Exit',
};

/** The types of steps that can be added. */
export type Addable = Exclude<StepType, 'TRIGGER'>;

/** These types, with the config each begins with. */
export const addable: { type: Addable; config: Record<string, unknown> }[] = [
  { type: 'SEND_EMAIL', config: {} },
  { type: 'DELAY', config: { amount: 1, unit: 'days' } },
  { type: 'WAIT_FOR_EVENT', config: {} },
  { type: 'WAIT_UNTIL', config: { time: '09:00', days: [1, 2, 3, 4, 5] } },
  { type: 'CONDITION', config: { field: '', operator: 'equals', value: '' } },
  {
    type: 'SPLIT',
    config: {
      branches: [
        { id: 'a', name: 'A', percent: 50 },
        { id: 'b', name: 'B', percent: 50 },
      ],
    },
  },
  { type: 'WEBHOOK', config: { url: '', method: 'POST' } },
  { type: 'UPDATE_CONTACT', config: { updates: {} } },
  { type: 'EXIT', config: {} },
];

/** A way that may lead out of a step. */
export interface WayOut {
  /** Unique within the step; also the name of its place on the canvas. */
  key: string;
  label: string;
  branch: string | null;
  waitOutcome: Transition['waitOutcome'];
}

const single: WayOut = { key: 'next', label: '', branch: null, waitOutcome: null };

/** A branch of a condition with several ways, which has a comparison or a condition tree, or of a split, which has a share. */
export interface Branch {
  id: string;
  name?: string | null;
  operator?: string;
  value?: unknown;
  condition?: unknown;
  percent?: number;
}

/** The branches of a split, and of a condition with several ways. */
export function branchesOf(config: Record<string, unknown>): Branch[] {
  return Array.isArray(config.branches) ? (config.branches as Branch[]) : [];
}

/** Every way that may lead out of a step, by its type and config. */
export function waysOut({ type, config }: Pick<Step, 'type' | 'config'>): WayOut[] {
  switch (type) {
    case 'EXIT':
      return [];
    case 'SPLIT':
    case 'CONDITION': {
      const own = type === 'SPLIT' || config.mode === 'multi' ? branchesOf(config) : null;
      const otherwise = (branch: string) => (own && branch === 'default' ? 'otherwise' : branch);
      const label = (branch: string) => {
        const { name, percent } = own?.find(({ id }) => id === branch) ?? {};
        const share = percent === undefined ? '' : ` ${percent}%${config.holdout === branch ? ' (control)' : ''}`;
        return `${name || otherwise(branch)}${share}`;
      };
      return branchNames({ type, config }).map((branch) => ({
        key: branch,
        label: label(branch),
        branch,
        waitOutcome: null,
      }));
    }
    case 'WAIT_FOR_EVENT':
      if (typeof config.timeout !== 'number') return [single];
      return [
        { key: 'EVENT', label: 'event', branch: null, waitOutcome: 'EVENT' },
        { key: 'TIMEOUT', label: 'timeout', branch: null, waitOutcome: 'TIMEOUT' },
        { ...single, label: 'in both cases' },
      ];
    default:
      return [single];
  }
}

/** The place on the canvas where a transition leaves its step. */
export function wayKey({ branch, waitOutcome }: Pick<Transition, 'branch' | 'waitOutcome'>): string {
  return branch ?? waitOutcome ?? 'next';
}

/** The way of a transition; one that the config knows no more is shown by its own name. */
export function wayOf(
  step: Pick<Step, 'type' | 'config'> | undefined,
  transition: Pick<Transition, 'branch' | 'waitOutcome'>,
): WayOut {
  const key = wayKey(transition);
  const known = step && waysOut(step).find((way) => way.key === key);
  return known ?? { ...transition, key, label: transition.branch ?? transition.waitOutcome ?? '' };
}

/**
 * How many people have taken a way so far, of those who left its step; one for every outcome has those of all outcomes that no other way is
 * for, without whoever met an exit or the goal. Of a webhook `failed` says how many of them went on although the receiver refused.
 */
export function pathCountOf(
  way: Pick<Transition, 'branch' | 'waitOutcome'>,
  siblings: readonly Pick<Transition, 'branch' | 'waitOutcome'>[],
  branches: PathCounts['steps'][number]['branches'],
): { count: number; failed: number } {
  const key = wayKey(way);
  const others = siblings.map(wayKey);
  const taken = { count: 0, failed: 0 };
  for (const { branch, count } of branches) {
    if (key === 'next' ? others.includes(branch) || branch.startsWith('exit:') : branch !== key) continue;
    taken.count += count;
    if (branch === 'failure') taken.failed += count;
  }
  return taken;
}

/** The ways that lead out of each step, by its id. */
export function byStep<Way extends Pick<Transition, 'fromStepId'>>(ways: readonly Way[]): Map<string, Way[]> {
  const found = new Map<string, Way[]>();
  for (const way of ways) {
    const own = found.get(way.fromStepId);
    if (own) own.push(way);
    else found.set(way.fromStepId, [way]);
  }
  return found;
}

/** The ways of a step that lead nowhere yet and may be connected. */
export function openWays(
  step: Pick<Step, 'id' | 'type' | 'config'>,
  transitions: readonly Pick<Transition, 'fromStepId' | 'branch' | 'waitOutcome'>[],
): WayOut[] {
  const used = transitions.filter(({ fromStepId }) => fromStepId === step.id);
  const taken = new Set(used.map(wayKey));
  if (taken.has('next')) return [];
  return waysOut(step).filter(({ key }) => !taken.has(key) && !(key === 'next' && used.length > 0));
}

const starts: Record<string, string> = {
  CONTACT_CREATED: 'When a contact is created',
  DATE: 'No field set',
  EVENT: 'No event set',
  MANUAL: 'Manually or by the API',
  SCHEDULE: 'On a schedule',
};

/** Summarizes a step in a line. A trigger whose workflow is not at hand has its type in its name: `Trigger: contact created`. */
export function summary({
  type,
  config,
  template,
  name = '',
  triggerType = name
    .replace(/^Trigger: /, '')
    .replace(' ', '_')
    .toUpperCase(),
}: Pick<Step, 'type' | 'config'> & Partial<Step> & { triggerType?: string }): string {
  const text = (value: unknown) => (value === undefined || value === null ? '' : String(value));
  switch (type) {
    case 'TRIGGER':
      if (config.field) return summary({ type: 'WAIT_UNTIL', config });
      if (config.eventName) return `On ${eventText(text(config.eventName))}`;
      return starts[triggerType] ?? 'On a schedule or manually';
    case 'SEND_EMAIL': {
      const recipient = config.recipient as { type?: string; customEmail?: string } | undefined;
      const to = recipient?.type === 'CUSTOM' ? ` to ${text(recipient.customEmail)}` : '';
      return template ? `${template.name}${to}` : 'No template chosen';
    }
    case 'DELAY':
      if (!config.amount) return 'No time set';
      return `${text(config.amount)} ${Number(config.amount) === 1 ? text(config.unit).replace(/s$/, '') : text(config.unit)}`;
    case 'WAIT_FOR_EVENT':
      return `${eventText(text(config.eventName)) || 'No event set'}${config.timeout ? `, at most ${duration(Number(config.timeout))}` : ''}`;
    case 'CONDITION':
      if (config.mode === 'tree') return 'Conditions';
      return config.mode === 'multi'
        ? `${text(config.field) || 'Conditions'}: ${branchesOf(config).length} branches`
        : `${text(config.field) || 'No field set'} ${operatorNames[text(config.operator)] ?? ''} ${text(config.value)}`;
    case 'WAIT_UNTIL': {
      const days = Array.isArray(config.days) ? config.days.map((day) => weekdays[day - 1]).join(', ') : 'every day';
      if (typeof config.field !== 'string') return `${text(config.time)}, ${days}`;
      const offset = config.offset ? ` ${text(config.offset)}` : '';
      return `${config.field || 'No field set'}${offset}${config.at ? ` at ${text(config.at)}` : ''}`;
    }
    case 'SPLIT':
      return branchesOf(config)
        .map(({ id, name, percent }) => `${name || id} ${percent}%`)
        .join(', ');
    case 'WEBHOOK':
      return `${text(config.method) || 'POST'} ${text(config.url) || 'no URL set'}`;
    case 'UPDATE_CONTACT': {
      const fields = Object.keys((config.updates ?? config.data ?? {}) as object);
      const action =
        config.subscriptionAction && config.subscriptionAction !== 'none' ? text(config.subscriptionAction) : '';
      return [fields.length > 0 ? `Set ${fields.join(', ')}` : '', action].filter(Boolean).join(', ') || 'Nothing set';
    }
    case 'EXIT':
      return text(config.reason) || 'Ends here';
  }
}

/** The days of the week, from Monday. */
export const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** How the operators of conditions read. */
export const operatorNames: Record<string, string> = {
  equals: 'is',
  notEquals: 'is not',
  contains: 'contains',
  notContains: 'does not contain',
  greaterThan: 'is greater than',
  lessThan: 'is less than',
  greaterThanOrEqual: 'is at least',
  lessThanOrEqual: 'is at most',
  exists: 'is set',
  notExists: 'is not set',
};

/** Seconds in words: `90000` is `25 hours`. */
function duration(seconds: number): string {
  for (const [unit, size] of [
    ['days', 86_400],
    ['hours', 3_600],
    ['minutes', 60],
  ] as const)
    if (seconds >= size && seconds % size === 0)
      return `${seconds / size} ${seconds === size ? unit.slice(0, -1) : unit}`;
  return `${seconds} seconds`;
}

const actingTypes: ReadonlySet<StepType> = new Set(['SEND_EMAIL', 'WEBHOOK', 'UPDATE_CONTACT']);

/** Whether a contact that enters can reach a step that sends, calls or changes something. */
export function hasAction(
  steps: readonly Pick<Step, 'id' | 'type'>[],
  transitions: readonly Pick<Transition, 'fromStepId' | 'toStepId'>[],
): boolean {
  const trigger = steps.find(({ type }) => type === 'TRIGGER');
  const reached = trigger ? reachableFrom(transitions, trigger.id) : new Set<string>();
  return steps.some(({ id, type }) => reached.has(id) && actingTypes.has(type));
}
