import * as v from 'valibot';
import { describedFields, field, nameSchemas } from '../../lib/validation/fields.ts';
import { BinaryCondition, MultiCondition, stepConfigs, TreeCondition } from './step-configs.ts';

/**
 * How the API reference describes the config of a request: one object with the fields of every type of step, because nothing in a
 * config says of what type it is.
 */
export const StepConfigShape = v.object({
  ...of('TRIGGER', stepConfigs.TRIGGER.entries),
  ...of('SEND_EMAIL', stepConfigs.SEND_EMAIL.entries),
  ...of('DELAY', stepConfigs.DELAY.entries),
  ...of('WAIT_FOR_EVENT', stepConfigs.WAIT_FOR_EVENT.entries),
  ...of('SPLIT', stepConfigs.SPLIT.entries),
  ...of('WEBHOOK', stepConfigs.WEBHOOK.entries),
  ...of('UPDATE_CONTACT', stepConfigs.UPDATE_CONTACT.entries),
  ...of('EXIT', stepConfigs.EXIT.entries),
  ...of('CONDITION', { ...BinaryCondition.entries, ...MultiCondition.entries, ...TreeCondition.entries }),
  eventName: field(
    '`TRIGGER`: name of the event that starts the workflow; null or absent for `MANUAL` and `SCHEDULE`. `WAIT_FOR_EVENT`: name of the event to wait for.',
    stepConfigs.TRIGGER.entries.eventName,
  ),
  branches: field(
    '`CONDITION`: branches in the order in which they are tried, 1 to 20. `SPLIT`: branches with the share of contacts that each gets, 1 to 10.',
    v.optional(MultiCondition.entries.branches),
  ),
  where: field(
    '`TRIGGER` and `WAIT_FOR_EVENT`: tests of the data of the event, 1 to 5, as in `event.<name>` filters of segments; an event that fails one does not count.',
    stepConfigs.WAIT_FOR_EVENT.entries.where,
  ),
  mode: field(
    '`CONDITION`: `binary`, the default, is one comparison with the branches `yes` and `no`; `multi` has one branch for each comparison or condition tree, and `default` if none matches; `tree` is a condition tree with the branches `yes` and `no`.',
    v.optional(v.picklist(['binary', 'multi', 'tree'])),
  ),
});
nameSchemas({ WorkflowStepConfig: StepConfigShape });

// Each field says of what type of step it is.
function of(type: string, entries: v.ObjectEntries): v.ObjectEntries {
  const texts = describedFields();
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [
      name,
      field(`\`${type}\`: ${texts.get(entry)?.text ?? ''}`, v.optional(entry)),
    ]),
  );
}
