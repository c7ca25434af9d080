import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { ConditionEditor } from '../../../conditions/ConditionEditor.tsx';
import { type Condition, missingIn, type Tree } from '../../../conditions/tree.ts';
import { MailSteps } from '../../../conditions/vocabulary.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../../ui/Dialog.tsx';
import { SelectField, TextField } from '../../../ui/Field.tsx';
import { usePause } from '../../../ui/pause.ts';
import { Note, Problem } from '../../../ui/States.tsx';
import { count, counted } from '../../../words/numbers.ts';
import { localText, ownZone } from '../../../words/times.ts';
import { BulkProgress } from '../../contacts/list/BulkDialog.tsx';
import { EventDataField, EventField } from '../steps/EventField.tsx';
import type { EventTest } from '../steps/settings.ts';
import { refreshWorkflows, type Workflow } from '../workflow.ts';

type EnrollBody = components['schemas']['EnrollContactsRequest'];
type Preview = components['schemas']['WorkflowEnrollPreview'];

interface Asked {
  by: 'segment' | 'condition' | 'event';
  segmentId: string;
  condition: Tree | null;
  eventName: string;
  /** The local time of the field, to the minute. */
  since: string;
  where: EventTest[] | null;
  perMinute: string;
}

const mostPerMinute = 100_000;
const dayMs = 86_400_000;

function nobodyYet(): Asked {
  const since = localText(new Date(Date.now() - 30 * dayMs).toISOString());
  return { by: 'segment', segmentId: '', condition: null, eventName: '', since, where: null, perMinute: '' };
}

/** The request without `dryRun`; null while something is missing. */
function bodyOf({ by, segmentId, condition, eventName: name, since, where, perMinute }: Asked): EnrollBody | null {
  const pace = Number(perMinute);
  if (perMinute !== '' && !(Number.isInteger(pace) && pace >= 1 && pace <= mostPerMinute)) return null;
  const rest = perMinute === '' ? {} : { mostPerMinute: pace };
  if (by === 'segment') return segmentId === '' ? null : { segmentId, ...rest };
  if (by === 'condition')
    return condition === null || missingIn(condition) ? null : { condition: condition as Condition, ...rest };
  const at = new Date(since);
  if (name === '' || Number.isNaN(at.getTime()) || where?.some(({ path }) => path === '')) return null;
  const event = { name, since: at.toISOString(), ...(where ? { where } : {}) };
  return { event: event as NonNullable<EnrollBody['event']>, ...rest };
}

/** Enrolls contacts of the past in a workflow: shows who would enter before it starts, and then how far it is. */
export function EnrollDialog({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const { id, name, enabled, pausedAt } = workflow;
  const [asked, setAsked] = useState(nobodyYet);
  const [isSure, setSure] = useState(false);
  const [jobId, setJobId] = useState<string | null>(null);
  const { body, preview, found } = usePreview(workflow, asked);
  if (jobId)
    return (
      <BulkProgress
        title={`Enrolling contacts in ${name}`}
        jobId={jobId}
        onDone={() => void refreshWorkflows(queries, project)}
        onClose={onClose}
      />
    );
  if (isSure && body && found)
    return (
      <ConfirmDialog
        title={`Enroll ${counted(found.enters, 'contact')} in ${name}?`}
        action="Enroll contacts"
        variant="primary"
        onConfirm={async () => {
          const queued = await enroll(id, body);
          if ('jobId' in queued) setJobId(queued.jobId);
        }}
        onClose={() => setSure(false)}
      >
        They start at the first step{paceText(body)}. This cannot be undone: you can only cancel their runs.
      </ConfirmDialog>
    );
  return (
    <Dialog
      wide
      title={`Enroll contacts in ${name}`}
      description="For contacts of before the workflow was enabled. Each enters at most once."
      onClose={onClose}
    >
      {enabled ? (
        <>
          <Who asked={asked} workflow={workflow} onChange={(part) => setAsked({ ...asked, ...part })} />
          <TextField
            label="Contacts per minute"
            hint="Spreads the contacts over time. Leave it empty to enroll them as fast as possible."
            type="number"
            min={1}
            max={mostPerMinute}
            value={asked.perMinute}
            onChange={({ target }) => setAsked({ ...asked, perMinute: target.value })}
          />
          <div role="status" aria-label="Preview" aria-busy={preview.isFetching}>
            {body === null ? (
              <Note>Choose the contacts to see how many would enter.</Note>
            ) : found ? (
              <Found preview={found} isPaused={pausedAt !== null} />
            ) : preview.error ? (
              <Problem error={preview.error} />
            ) : (
              <Note>Counting…</Note>
            )}
          </div>
        </>
      ) : (
        <Note tone="warn">Enable the workflow before you enroll contacts.</Note>
      )}
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" disabled={found === undefined || found.enters === 0} onClick={() => setSure(true)}>
          Enroll {found ? counted(found.enters, 'contact') : 'contacts'}
        </Button>
      </footer>
    </Dialog>
  );
}

/** The request, and what a dry run says about it once typing pauses; `found` is undefined while that is not known. */
function usePreview({ id, enabled }: Workflow, asked: Asked) {
  const project = useProjectId();
  const body = useMemo(() => bodyOf(asked), [asked]);
  const settled = usePause(body, 400);
  const preview = useQuery({
    queryKey: ['workflows', project, id, 'enroll', settled],
    enabled: enabled && settled !== null,
    gcTime: 0,
    retry: false,
    queryFn: async ({ signal }): Promise<Preview> => {
      const found = await enroll(id, { ...settled, dryRun: true }, signal);
      if ('jobId' in found) throw new Error('The service did not answer with a preview');
      return found;
    },
  });
  const found = body !== null && settled === body ? preview.data : undefined;
  return { body, preview, found };
}

function enroll(id: string, body: EnrollBody, signal?: AbortSignal) {
  return answer(api.POST('/workflows/{id}/enroll', { params: { path: { id } }, body, ...(signal ? { signal } : {}) }));
}

const paceText = ({ mostPerMinute: most }: EnrollBody) => (most ? `, at most ${count(most)} per minute` : '');

/** Chooses the contacts: by segment, condition or past event. */
function Who({
  asked,
  workflow,
  onChange,
}: {
  asked: Asked;
  workflow: Workflow;
  onChange: (part: Partial<Asked>) => void;
}) {
  const project = useProjectId();
  const segments = useQuery({ queryKey: ['segments', project], queryFn: () => answer(api.GET('/segments')) });
  const { by } = asked;
  return (
    <div className="stack">
      <SelectField label="Contacts" value={by} onChange={({ target }) => onChange({ by: target.value as Asked['by'] })}>
        <option value="segment">In a segment</option>
        <option value="condition">Matching conditions</option>
        <option value="event">With a past event</option>
      </SelectField>
      {by === 'segment' ? (
        <SelectField
          label="Segment"
          value={asked.segmentId}
          onChange={({ target }) => onChange({ segmentId: target.value })}
        >
          <option value="">Select one</option>
          {segments.data?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      ) : by === 'condition' ? (
        <MailSteps value={workflow.steps.filter(({ type }) => type === 'SEND_EMAIL')}>
          <ConditionEditor initial={asked.condition} onChange={(condition) => onChange({ condition })} />
        </MailSteps>
      ) : (
        <>
          <EventField
            label="Event"
            hint="Contacts enter with the data of their latest event."
            value={asked.eventName}
            onChange={(eventName) => onChange({ eventName })}
          />
          <TextField
            label={`Since (${ownZone()})`}
            type="datetime-local"
            value={asked.since}
            onChange={({ target }) => onChange({ since: target.value })}
          />
          <EventDataField where={asked.where} problemOf={() => undefined} onChange={(where) => onChange({ where })} />
        </>
      )}
    </div>
  );
}

const mayNot: Record<string, (contacts: string, isOne: boolean) => string> = {
  'Has been in the workflow, which does not allow re-entry': (contacts, isOne) =>
    `${contacts} ${isOne ? 'has' : 'have'} been in the workflow, which does not allow re-entry`,
  'Is in the workflow already': (contacts, isOne) => `${contacts} ${isOne ? 'is' : 'are'} in the workflow already`,
  'Entered the workflow as often within an hour as is allowed': (contacts) =>
    `${contacts} entered it as often within an hour as is allowed`,
};

function Found({ preview, isPaused }: { preview: Preview; isPaused: boolean }): ReactNode {
  const reasons = Object.entries(preview.reasons).map(([reason, number]) => {
    const say = mayNot[reason];
    return say ? say(count(number), number === 1) : `${count(number)}: ${reason}`;
  });
  return (
    <div className="stack">
      <p>
        {count(preview.enters)} of {counted(preview.contacts, 'contact')} would enter
        {reasons.length > 0 ? `; ${reasons.join('; ')}` : ''}.
      </p>
      {isPaused ? <Note tone="warn">The workflow is paused: contacts enter once it is resumed.</Note> : null}
    </div>
  );
}
