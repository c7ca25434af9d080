import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/Field.tsx';
import { Problem } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { EventField } from './NewWorkflow.tsx';
import { refreshWorkflows, type Workflow } from './workflow.ts';

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
}

/** The settings of a saved automation. */
export function settingsOf(workflow: Workflow): Settings {
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
  };
}

function triggerBody(settings: Settings, workflow: Workflow) {
  const { triggerType, eventName, schedule, timezone, segmentId } = settings;
  if (triggerType === 'EVENT') return { triggerType, triggerConfig: { eventName } };
  if (triggerType === 'MANUAL') return { triggerType, triggerConfig: {} };
  // A condition that was made by the API stays while no segment is chosen.
  const { audienceCondition } = workflow.triggerConfig ?? {};
  const audience = segmentId ? { segmentId } : audienceCondition ? { audienceCondition } : {};
  return { triggerType, triggerConfig: { schedule, timezone, ...audience } };
}

/** The form of these settings; `draft` is null while nothing was typed. */
export function TriggerForm({
  workflow,
  draft,
  onWrite,
}: {
  workflow: Workflow;
  draft: Settings | null;
  onWrite: (draft: Settings | null) => void;
}) {
  const project = useProjectId();
  const queries = useQueryClient();
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
      const trigger = triggerBody(shown, workflow);
      const isSameTrigger = JSON.stringify(trigger) === JSON.stringify(triggerBody(saved, workflow));
      const body = { name, description: description || null, allowReentry, ...(isSameTrigger ? {} : trigger) };
      return answer(api.PATCH('/workflows/{id}', { params: { path: { id: workflow.id } }, body }));
    },
    onSuccess: async () => {
      toast('Settings saved');
      await refreshWorkflows(queries, project);
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
      <h2>Start and settings</h2>
      {byOthers ? (
        <div className="note" data-tone="warn">
          <p>Somebody else has saved these settings while you wrote. Your text is kept here.</p>
          <span className="row">
            <Button size="small" onClick={() => onWrite(null)}>
              Take theirs
            </Button>
            <Button size="small" onClick={() => setBase(saved)}>
              Go on with mine
            </Button>
          </span>
        </div>
      ) : null}
      <TextField
        label="Name of the workflow"
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
        label="Starts by"
        value={shown.triggerType}
        onChange={(event) => change({ triggerType: event.target.value as Settings['triggerType'] })}
      >
        <option value="EVENT">An event</option>
        <option value="SCHEDULE">A schedule</option>
        <option value="MANUAL">Hand or API alone</option>
      </SelectField>
      {shown.triggerType === 'EVENT' ? (
        <EventField
          label="Event"
          hint="Exactly as it is tracked, capitals included."
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
            hint="Minute, hour, day, month, weekday: “0 9 * * 1” is Mondays at nine."
            required
            value={shown.schedule}
            problem={refused?.problemOf('triggerConfig.schedule')}
            onChange={(event) => change({ schedule: event.target.value })}
          />
          <TextField
            label="Time zone"
            hint="Such as Europe/Berlin."
            required
            value={shown.timezone}
            problem={refused?.problemOf('triggerConfig.timezone')}
            onChange={(event) => change({ timezone: event.target.value })}
          />
          <SelectField
            label="For the segment"
            value={shown.segmentId}
            problem={refused?.problemOf('triggerConfig.segmentId')}
            onChange={(event) => change({ segmentId: event.target.value })}
          >
            <option value="">{workflow.triggerConfig?.audienceCondition ? 'Its own condition' : 'Choose one'}</option>
            {segments.data?.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
        </>
      ) : null}
      <CheckField
        label="Let the same contact in again"
        hint="Otherwise each contact goes through once."
        checked={shown.allowReentry}
        onChange={(event) => change({ allowReentry: event.target.checked })}
      />
      {save.error ? <Problem error={save.error} /> : null}
      <div className="row">
        <Button type="submit" look="primary" busy={save.isPending} disabled={draft === null || byOthers}>
          Save the settings
        </Button>
        {draft ? (
          <Button look="plain" onClick={() => onWrite(null)}>
            Throw changes away
          </Button>
        ) : null}
      </div>
    </form>
  );
}
