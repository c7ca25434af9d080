import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ApiError } from '../../../api/errors.ts';
import { usePart } from '../../../standby/use-part.ts';
import { Button } from '../../../ui/Button.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/Field.tsx';
import { Note, Problem } from '../../../ui/States.tsx';
import { toast } from '../../../ui/toasts.tsx';
import type { Editing } from '../designer/editing.ts';
import { type EventKind, eventOfKind, kindOf } from '../graph/segment-trigger.ts';
import type { Workflow } from '../workflow.ts';
import { EventDataField, EventField, SegmentEventField } from './EventField.tsx';
import { CreatedFields, ScheduleFields } from './ScheduleFields.tsx';
import { type Settings, settingsOf, triggerBody } from './settings.ts';

const loadEnds = () => import('./EndsField.tsx');
const loadDates = () => import('./DateFields.tsx');

/** The form of the settings, which are saved apart from the graph. */
export function TriggerForm({ workflow, editing }: { workflow: Workflow; editing: Editing }) {
  const { settings: draft, writeSettings: onWrite } = editing;
  const saved = settingsOf(workflow);
  const [base, setBase] = useState(saved);
  const shown = draft ?? saved;
  const change = (part: Partial<Settings>) => {
    if (draft === null) setBase(saved);
    onWrite({ ...shown, ...part });
  };
  const byOthers = draft !== null && JSON.stringify(base) !== JSON.stringify(saved);
  const save = useSaving(shown, saved, editing);
  const ends = usePart(loadEnds, true);
  const loadedDates = usePart(loadDates, shown.triggerType === 'DATE');
  const dates = shown.triggerType === 'DATE' ? loadedDates : null;
  const problemOf = (field: string) => (save.error instanceof ApiError ? save.error.problemOf(field) : undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <h2>Trigger and settings</h2>
      {byOthers ? <SavedByOthers onTheirs={() => onWrite(null)} onMine={() => setBase(saved)} /> : null}
      <TextField
        label="Workflow name"
        required
        maxLength={255}
        value={shown.name}
        problem={problemOf('name')}
        onChange={(event) => change({ name: event.target.value })}
      />
      <TextArea
        label="Description"
        maxLength={2000}
        value={shown.description}
        onChange={(event) => change({ description: event.target.value })}
      />
      <StartFields shown={shown} problemOf={problemOf} onChange={change} />
      {dates ? (
        <dates.DateFields
          workflowId={workflow.id}
          shown={shown}
          isSaved={JSON.stringify(triggerBody(shown)) === JSON.stringify(triggerBody(saved))}
          problemOf={problemOf}
          onChange={change}
        />
      ) : null}
      <CheckField
        label="Allow re-entry"
        hint="Otherwise each contact enters only once."
        checked={shown.allowReentry}
        onChange={(event) => change({ allowReentry: event.target.checked })}
      />
      {ends ? <ends.EndsField workflow={workflow.id} ends={shown} problemOf={problemOf} onChange={change} /> : null}
      {save.error ? <Problem error={save.error} /> : null}
      <div className="row">
        <Button type="submit" variant="primary" busy={save.isPending} disabled={draft === null || byOthers}>
          Save settings
        </Button>
        {draft ? (
          <Button variant="plain" onClick={() => onWrite(null)}>
            Discard settings
          </Button>
        ) : null}
      </div>
    </form>
  );
}

function useSaving(shown: Settings, saved: Settings, { patch, writeSettings }: Editing) {
  return useMutation({
    mutationFn: () => {
      const { name, description, allowReentry } = shown;
      const trigger = triggerBody(shown);
      const isSameTrigger = JSON.stringify(trigger) === JSON.stringify(triggerBody(saved));
      const changed = {
        ...(isSameTrigger ? {} : trigger),
        ...(JSON.stringify(shown.exits) === JSON.stringify(saved.exits)
          ? {}
          : { exits: shown.exits as unknown as Workflow['exits'] }),
        ...(JSON.stringify(shown.goal) === JSON.stringify(saved.goal)
          ? {}
          : { goal: shown.goal as unknown as Workflow['goal'] }),
      };
      return patch({ name, description: description || null, allowReentry, ...changed });
    },
    onSuccess: () => {
      toast('Settings saved');
      writeSettings(null);
    },
  });
}

function SavedByOthers({ onTheirs, onMine }: { onTheirs: () => void; onMine: () => void }) {
  return (
    <Note tone="warn">
      <p>Someone else saved these settings while you were editing. Your version is kept here.</p>
      <span className="row">
        <Button size="small" onClick={onTheirs}>
          Use theirs
        </Button>
        <Button size="small" onClick={onMine}>
          Keep mine
        </Button>
      </span>
    </Note>
  );
}

/** Chooses the trigger of the automation, with the fields of its kind. */
function StartFields({
  shown,
  problemOf,
  onChange,
}: {
  shown: Settings;
  problemOf: (field: string) => string | undefined;
  onChange: (part: Partial<Settings>) => void;
}) {
  const [chosen, setChosen] = useState<EventKind | null>(null);
  const kind = kindOf(shown.eventName, chosen);
  const choose = (value: string) => {
    if (value === 'SCHEDULE' || value === 'MANUAL' || value === 'CONTACT_CREATED' || value === 'DATE') {
      onChange({ triggerType: value });
      return;
    }
    const next = value as EventKind;
    setChosen(next);
    onChange({ triggerType: 'EVENT', eventName: eventOfKind(shown.eventName, next), where: null });
  };
  const event = {
    value: shown.eventName,
    problem: problemOf('triggerConfig.eventName'),
    onChange: (eventName: string) => onChange({ eventName }),
  };
  const isEvent = shown.triggerType === 'EVENT';
  return (
    <>
      <SelectField
        label="Trigger"
        value={isEvent ? kind : shown.triggerType}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="event">Event</option>
        <option value="CONTACT_CREATED">Contact is created</option>
        <option value="entry">Contact enters a segment</option>
        <option value="exit">Contact leaves a segment</option>
        <option value="DATE">Date of a contact</option>
        <option value="SCHEDULE">Schedule</option>
        <option value="MANUAL">Manual or API only</option>
      </SelectField>
      {isEvent && kind === 'event' ? (
        <>
          <EventField label="Event" hint="Exactly as tracked. Case matters." required {...event} />
          <EventDataField
            where={shown.where}
            problemOf={(field) => problemOf(`triggerConfig.${field}`)}
            onChange={(where) => onChange({ where })}
          />
        </>
      ) : null}
      {isEvent && kind !== 'event' ? <SegmentEventField kind={kind} {...event} /> : null}
      {shown.triggerType === 'CONTACT_CREATED' ? (
        <CreatedFields shown={shown} problemOf={problemOf} onChange={onChange} />
      ) : null}
      {shown.triggerType === 'SCHEDULE' ? (
        <ScheduleFields shown={shown} problemOf={problemOf} onChange={onChange} />
      ) : null}
    </>
  );
}
