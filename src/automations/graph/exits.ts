import * as v from 'valibot';
import { ConditionShape, EventWhere } from '../../contacts/conditions.ts';
import { parseCondition } from '../../lib/conditions/condition.ts';
import { ConditionFault } from '../../lib/conditions/dates.ts';
import { dayMs } from '../../lib/time.ts';
import {
  choice,
  coded,
  describedBy,
  field,
  JsonObject,
  nameSchemas,
  textField,
  Uuid,
  wholeNumber,
} from '../../lib/validation/fields.ts';

function checkedTree(asksTrigger: boolean) {
  const checked = v.pipe(
    JsonObject,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      try {
        parseCondition(dataset.value, asksTrigger);
      } catch (error) {
        if (!(error instanceof ConditionFault)) throw error;
        addIssue({ message: error.message });
      }
    }),
  );
  return describedBy(
    v.lazy(() => checked),
    ConditionShape,
  );
}
/** A condition tree, which may ask for `trigger.<key>`; a fault names its place in the tree. */
export const StepTree = checkedTree(true);
// Goals are asked of many contacts at once.
const GoalTree = checkedTree(false);

const mostExits = 20;
const causes = ['event', 'condition', 'leavesSegment'] as const;

const causeOf = (texts: Record<(typeof causes)[number], string>, tree: typeof StepTree) =>
  v.pipe(
    v.object({
      event: field(texts.event, v.nullish(textField('event', 1, 255))),
      where: field('Tests of the data of the event, 1 to 5, which all have to pass.', v.nullish(EventWhere)),
      condition: field(texts.condition, v.nullish(tree)),
      leavesSegment: field(texts.leavesSegment, v.nullish(Uuid)),
    }),
    v.check(
      (on) => causes.filter((cause) => on[cause] !== undefined && on[cause] !== null).length === 1,
      'must have exactly one of event, condition and leavesSegment',
    ),
    v.check(({ event, where }) => typeof event === 'string' || !where, 'can have where beside an event only'),
  );

const Exit = v.object({
  id: field('ID of the exit within the workflow, 1 to 40 characters.', textField('id', 1, 40)),
  on: field(
    'What ends the execution: exactly one of `event`, `condition` and `leavesSegment`.',
    causeOf(
      {
        event: 'Name of an event of the contact, which ends the execution at once.',
        condition: 'Condition tree, which is evaluated before each `SEND_EMAIL`, `WEBHOOK` and `UPDATE_CONTACT`.',
        leavesSegment: 'ID of a segment that tracks its membership; leaving it ends the execution at once.',
      },
      StepTree,
    ),
  ),
  reason: field('Reason that the execution ends with, 1 to 200 characters.', textField('reason', 1, 200)),
});
type Exit = v.InferOutput<typeof Exit>;

/** What ends a run before its path does, whatever step it is at. */
export const Exits = v.pipe(
  v.array(Exit, 'must be a list of exits'),
  v.maxLength(mostExits, `must have at most ${mostExits} exits`),
  coded<Exit[]>(
    'custom',
    (exits) => new Set(exits.map(({ id }) => id)).size === exits.length,
    'must have exits with different ids',
  ),
);
export type Exits = v.InferOutput<typeof Exits>;

/** What a workflow is for. */
export const Goal = v.object({
  on: field(
    'What reaches the goal: exactly one of `event`, `condition` and `leavesSegment`.',
    causeOf(
      {
        event: 'Name of an event of the contact. Only events after the contact has entered count.',
        condition:
          'Condition tree without `trigger.<key>`. It is evaluated when the contact enters, who is not counted if it matches, before each `SEND_EMAIL`, `WEBHOOK` and `UPDATE_CONTACT`, and when `withinDays` have passed.',
        leavesSegment: 'ID of a segment that tracks its membership; leaving it reaches the goal.',
      },
      GoalTree,
    ),
  ),
  withinDays: field(
    'Days after entering within which the goal counts, 1 to 365, also when the execution has ended.',
    wholeNumber(1, 365),
  ),
  // biome-ignore lint/suspicious/noThenProperty: the field of the contract.
  then: field(
    '`count` only counts; `exit` also ends the execution, with the reason `reached the goal`, as exits do.',
    choice(['count', 'exit']),
  ),
});
export type Goal = v.InferOutput<typeof Goal>;

nameSchemas({ WorkflowExit: Exit, WorkflowGoal: Goal });

type AnyStep = { type: string; config: Record<string, unknown> };

/**
 * The exits of a graph. The config of its TRIGGER keeps them, so that they are pinned, compared, copied and migrated as steps are; those
 * that cannot be read end nothing.
 */
export function exitsOf(steps: readonly AnyStep[]): Exits {
  const trigger = steps.find(({ type }) => type === 'TRIGGER');
  const parsed = v.safeParse(Exits, trigger?.config.exits ?? []);
  return parsed.success ? parsed.output : [];
}

/** The goal of a graph, which the config of its TRIGGER keeps too; null for none, and for one that cannot be read. */
export function goalOf(steps: readonly AnyStep[]): Goal | null {
  const trigger = steps.find(({ type }) => type === 'TRIGGER');
  const parsed = v.safeParse(Goal, trigger?.config.goal);
  return parsed.success ? parsed.output : null;
}

/** What ends a run that began so long ago: its exits, and a goal that is an exit too, while it counts. */
export function endsOf(steps: readonly AnyStep[], elapsedMs: number): Exits {
  const goal = goalOf(steps);
  const ends = goal?.then === 'exit' && elapsedMs <= goal.withinDays * dayMs;
  return ends ? [...exitsOf(steps), { id: 'goal', on: goal.on, reason: 'reached the goal' }] : exitsOf(steps);
}

/** The exits and the goal that a request changes: what is absent stays, null removes. */
export type WishedEnds = { exits?: Exits | null | undefined; goal?: Goal | null | undefined };

/** The config of a TRIGGER with exits and goal as wished, else as `before` had them. */
export function withEnds(
  { exits: _, goal: __, ...config }: Record<string, unknown>,
  before: Record<string, unknown>,
  wished: WishedEnds,
): Record<string, unknown> {
  const exits = wished.exits === undefined ? before.exits : wished.exits;
  const goal = wished.goal === undefined ? before.goal : wished.goal;
  return { ...config, ...(Array.isArray(exits) && exits.length > 0 && { exits }), ...(goal ? { goal } : {}) };
}

/** The types of steps that the conditions of exits are asked before: what they do cannot be taken back. */
export const asksConditions: ReadonlySet<string> = new Set(['SEND_EMAIL', 'WEBHOOK', 'UPDATE_CONTACT']);

/** What an event that a graph listens for may do: end runs, reach the goal, end waits. */
type Listening = Record<'ends' | 'counts' | 'waits', boolean>;

/** The events that a graph listens for besides that of its trigger, by the names of `automation_watches`. */
export function watchesOf(steps: readonly AnyStep[]): ReadonlyMap<string, Listening> {
  const goal = goalOf(steps);
  const watched = new Map<string, Listening>();
  const listen = (name: unknown, how: keyof Listening) => {
    const before =
      typeof name === 'string' ? (watched.get(name) ?? { ends: false, counts: false, waits: false }) : null;
    if (before !== null) watched.set(name as string, { ...before, [how]: true });
  };
  // Segments are known by their ID, whatever they are named.
  const nameOf = ({ event, leavesSegment }: Goal['on']) => event ?? (leavesSegment ? `segment:${leavesSegment}` : null);
  if (goal !== null) listen(nameOf(goal.on), 'counts');
  for (const { on } of endsOf(steps, 0)) listen(nameOf(on), 'ends');
  for (const { type, config } of steps) if (type === 'WAIT_FOR_EVENT') listen(config.eventName, 'waits');
  return watched;
}
