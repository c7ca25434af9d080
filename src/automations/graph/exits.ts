import * as v from 'valibot';
import { ConditionShape, EventWhere } from '../../contacts/conditions.ts';
import { parseCondition } from '../../lib/conditions/condition.ts';
import { ConditionFault } from '../../lib/conditions/dates.ts';
import { coded, describedBy, field, JsonObject, nameSchemas, textField, Uuid } from '../../lib/validation/fields.ts';

const CheckedTree = v.pipe(
  JsonObject,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    try {
      parseCondition(dataset.value, true);
    } catch (error) {
      if (!(error instanceof ConditionFault)) throw error;
      addIssue({ message: error.message });
    }
  }),
);
/** A condition tree, which may ask for `trigger.<key>`; a fault names its place in the tree. */
export const StepTree = describedBy(
  v.lazy(() => CheckedTree),
  ConditionShape,
);

const mostExits = 20;
const causes = ['event', 'condition', 'leavesSegment'] as const;

const Exit = v.object({
  id: field('ID of the exit within the workflow, 1 to 40 characters.', textField('id', 1, 40)),
  on: field(
    'What ends the execution: exactly one of `event`, `condition` and `leavesSegment`.',
    v.pipe(
      v.object({
        event: field(
          'Name of an event of the contact, which ends the execution at once.',
          v.nullish(textField('event', 1, 255)),
        ),
        where: field('Tests of the data of the event, 1 to 5, which all have to pass.', v.nullish(EventWhere)),
        condition: field(
          'Condition tree, which is evaluated before each `SEND_EMAIL`, `WEBHOOK` and `UPDATE_CONTACT`.',
          v.nullish(StepTree),
        ),
        leavesSegment: field(
          'ID of a segment that tracks its membership; leaving it ends the execution at once.',
          v.nullish(Uuid),
        ),
      }),
      v.check(
        (on) => causes.filter((cause) => on[cause] !== undefined && on[cause] !== null).length === 1,
        'must have exactly one of event, condition and leavesSegment',
      ),
      v.check(({ event, where }) => typeof event === 'string' || !where, 'can have where beside an event only'),
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

nameSchemas({ WorkflowExit: Exit });

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

/** The config of a TRIGGER with these exits in place of its own. */
export function withExits(config: Record<string, unknown>, exits: unknown): Record<string, unknown> {
  const { exits: _, ...rest } = config;
  return Array.isArray(exits) && exits.length > 0 ? { ...rest, exits } : rest;
}

/** The types of steps that the conditions of exits are asked before: what they do cannot be taken back. */
export const asksConditions: ReadonlySet<string> = new Set(['SEND_EMAIL', 'WEBHOOK', 'UPDATE_CONTACT']);

/** What `automation_watches` calls an event: segments are known by their ID, whatever they are named. */
export function watchedName({ on }: Exit): string | null {
  return on.event ?? (on.leavesSegment ? `segment:${on.leavesSegment}` : null);
}
