import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { useProjectId } from '../../app/address.ts';
import { ConditionEditor } from '../../conditions/ConditionEditor.tsx';
import { filtersIn, formOf, inOrder, type Tree } from '../../conditions/tree.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/Field.tsx';
import { Problem } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { counted } from '../../words/numbers.ts';
import type { Editing } from './editing.ts';
import { EventField } from './NewWorkflow.tsx';
import type { Workflow } from './workflow.ts';

/** What an automation is called, what starts it, and whether contacts may come again. */
export interface Settings {
  name: string;
  description: string;
  allowReentry: boolean;
  triggerType: Workflow['triggerType'];
  eventName: string;
  schedule: string;
  timezone: string;
  segmentId: string;
  /** Only those whom it finds are let in; beside a segment, those of its people. */
  audienceCondition: Tree | null;
}

/** The settings of a saved automation. */
function settingsOf(workflow: Workflow): Settings {
  const { name, description, allowReentry, triggerType, triggerConfig } = workflow;
  const text = (key: string) => (typeof triggerConfig?.[key] === 'string' ? triggerConfig[key] : '');
  return {
    name,
    description: description ?? '',
    allowReentry,
    triggerType,
    eventName: text('eventName'),
    schedule: text('schedule'),
    timezone: text('timezone') || 'UTC',
    segmentId: text('segmentId'),
    // What the service has stored has passed its grammar, or is named among the issues.
    audienceCondition: isTree(triggerConfig?.audienceCondition) ? inOrder(triggerConfig.audienceCondition) : null,
  };
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && Array.isArray((value as { groups?: unknown }).groups);
}

function triggerBody({ triggerType, eventName, schedule, timezone, segmentId, audienceCondition }: Settings) {
  if (triggerType === 'EVENT') return { triggerType, triggerConfig: { eventName } };
  if (triggerType === 'MANUAL') return { triggerType, triggerConfig: {} };
  const audience = { ...(segmentId ? { segmentId } : {}), ...(audienceCondition ? { audienceCondition } : {}) };
  return { triggerType, triggerConfig: { schedule, timezone, ...audience } };
}

/** The form of these settings, which are saved apart from the graph. */
export function TriggerForm({
  workflow,
  editing: { settings: draft, writeSettings: onWrite, patch },
}: {
  workflow: Workflow;
  editing: Editing;
}) {
  const project = useProjectId();
  const [isConditionOpen, setConditionOpen] = useState(false);
  const saved = settingsOf(workflow);
  const [base, setBase] = useState(saved);
  const shown = draft ?? saved;
  const change = (part: Partial<Settings>) => {
    if (draft === null) setBase(saved);
    onWrite({ ...shown, ...part });
  };
  const byOthers = draft !== null && JSON.stringify(base) !== JSON.stringify(saved);
  const segments = useQuery({
    queryKey: ['segments', project],
    enabled: shown.triggerType === 'SCHEDULE',
    queryFn: () => answer(api.GET('/segments')),
  });
  const save = useMutation({
    mutationFn: () => {
      const { name, description, allowReentry } = shown;
      const trigger = triggerBody(shown);
      const isSameTrigger = JSON.stringify(trigger) === JSON.stringify(triggerBody(saved));
      return patch({ name, description: description || null, allowReentry, ...(isSameTrigger ? {} : trigger) });
    },
    onSuccess: () => {
      toast('Settings saved');
      onWrite(null);
    },
  });
  const refused = save.error instanceof ApiError ? save.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <h2>Trigger and settings</h2>
      {byOthers ? (
        <div className="rounded-lg bg-warn-soft px-3 py-2 text-warn">
          <p>Someone else saved these settings while you were editing. Your version is kept here.</p>
          <span className="row">
            <Button size="small" onClick={() => onWrite(null)}>
              Use theirs
            </Button>
            <Button size="small" onClick={() => setBase(saved)}>
              Keep mine
            </Button>
          </span>
        </div>
      ) : null}
      <TextField
        label="Workflow name"
        required
        maxLength={255}
        value={shown.name}
        problem={refused?.problemOf('name')}
        onChange={(event) => change({ name: event.target.value })}
      />
      <TextArea
        label="Description"
        maxLength={2000}
        value={shown.description}
        onChange={(event) => change({ description: event.target.value })}
      />
      <SelectField
        label="Trigger"
        value={shown.triggerType}
        onChange={(event) => change({ triggerType: event.target.value as Settings['triggerType'] })}
      >
        <option value="EVENT">Event</option>
        <option value="SCHEDULE">A schedule</option>
        <option value="MANUAL">Manual or API only</option>
      </SelectField>
      {shown.triggerType === 'EVENT' ? (
        <EventField
          label="Event"
          hint="Exactly as tracked. Case matters."
          required
          value={shown.eventName}
          problem={refused?.problemOf('triggerConfig.eventName')}
          onChange={(eventName) => change({ eventName })}
        />
      ) : null}
      {shown.triggerType === 'SCHEDULE' ? (
        <>
          <TextField
            label="Schedule (cron)"
            hint="Minute, hour, day, month, weekday. “0 9 * * 1” is Mondays at 9:00 AM."
            required
            value={shown.schedule}
            problem={refused?.problemOf('triggerConfig.schedule')}
            onChange={(event) => change({ schedule: event.target.value })}
          />
          <TextField
            label="Time zone"
            hint="For example Europe/Berlin."
            required
            value={shown.timezone}
            problem={refused?.problemOf('triggerConfig.timezone')}
            onChange={(event) => change({ timezone: event.target.value })}
          />
          <SelectField
            label="Segment"
            hint="All contacts in it at that time, or those matching the conditions."
            value={shown.segmentId}
            problem={refused?.problemOf('triggerConfig.segmentId')}
            onChange={(event) => change({ segmentId: event.target.value })}
          >
            <option value="">No segment</option>
            {segments.data?.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
          <div className="field">
            <span>Condition</span>
            <span className="text-sm text-muted">{conditionText(shown)}</span>
            <span className="row">
              <Button size="small" onClick={() => setConditionOpen(true)}>
                {shown.audienceCondition ? 'Edit conditions' : 'Add conditions'}
              </Button>
              {shown.audienceCondition ? (
                <Button size="small" look="plain" onClick={() => change({ audienceCondition: null })}>
                  Remove conditions
                </Button>
              ) : null}
            </span>
            {refused?.problemOf('triggerConfig.audienceCondition') ? (
              <span className="text-sm text-bad" role="alert">
                {refused.problemOf('triggerConfig.audienceCondition')}
              </span>
            ) : null}
          </div>
          {isConditionOpen ? (
            <ConditionDialog
              initial={shown.audienceCondition}
              onTake={(audienceCondition) => change({ audienceCondition })}
              onClose={() => setConditionOpen(false)}
            />
          ) : null}
        </>
      ) : null}
      <CheckField
        label="Allow re-entry"
        hint="Otherwise each contact enters only once."
        checked={shown.allowReentry}
        onChange={(event) => change({ allowReentry: event.target.checked })}
      />
      {save.error ? <Problem error={save.error} /> : null}
      <div className="row">
        <Button type="submit" look="primary" busy={save.isPending} disabled={draft === null || byOthers}>
          Save settings
        </Button>
        {draft ? (
          <Button look="plain" onClick={() => onWrite(null)}>
            Discard settings
          </Button>
        ) : null}
      </div>
    </form>
  );
}

function conditionText({ audienceCondition, segmentId }: Settings): string {
  if (audienceCondition === null)
    return segmentId
      ? 'None: all contacts in the segment enter.'
      : 'None yet: a schedule needs a segment or conditions.';
  const filters = [...filtersIn(formOf(audienceCondition))].length;
  return `${counted(filters, 'filter')}.`;
}

/** Builds the condition of a schedule, beside the people whom it finds now. */
function ConditionDialog({
  initial,
  onTake,
  onClose,
}: {
  initial: Tree | null;
  onTake: (tree: Tree) => void;
  onClose: () => void;
}) {
  const [tree, setTree] = useState(initial);
  return (
    <Dialog
      title="Conditions"
      description="Checked at each scheduled time. The preview shows contacts matching now."
      onClose={onClose}
    >
      <ConditionEditor initial={initial} onChange={setTree} />
      <footer>
        <Button onClick={onClose}>Close</Button>
        <Button
          look="primary"
          disabled={tree === null || tree === initial}
          onClick={() => {
            if (tree) onTake(tree);
            onClose();
          }}
        >
          Use conditions
        </Button>
      </footer>
    </Dialog>
  );
}
