import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { CheckField, SelectField, TextField } from '../../ui/Field.tsx';
import { Problem } from '../../ui/States.tsx';
import { counted } from '../../words/numbers.ts';
import { SenderField } from '../mail/SenderField.tsx';
import { useSenderDomains, usualSender } from '../mail/senders.ts';
import { type EventKind, eventOfKind, kindOf } from './graph/segment-trigger.ts';
import type { Starter } from './graph/starters/parts.ts';
import { createFromStarter } from './starters/create.ts';
import { StarterChoice } from './starters/StarterChoice.tsx';
import { EventField, SegmentEventField } from './steps/EventField.tsx';
import type { Workflow } from './workflow.ts';

/** Asks what a new automation begins with, for its name and its event, and opens its designer. */
export function NewWorkflow({ onClose }: { onClose: () => void }) {
  const project = useProjectId();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [starter, setStarter] = useState<Starter | null>(null);
  const [name, setName] = useState('');
  const [eventName, setEventName] = useState('');
  const [kind, setKind] = useState<EventKind | null>(null);
  const [triggerType, setTriggerType] = useState<Workflow['triggerType']>('EVENT');
  const [allowReentry, setAllowReentry] = useState(false);
  const emails = useEmails();
  const create = useMutation({
    mutationFn: () => {
      const facts = { name, triggerType, ...(triggerType === 'EVENT' ? { eventName } : {}), allowReentry };
      return starter === null
        ? answer(api.POST('/workflows', { body: facts }))
        : createFromStarter(starter, facts, emails.sender);
    },
    onSuccess: async ({ id }) => {
      if (starter) await queries.invalidateQueries({ queryKey: ['templates', project] });
      await navigate({ to: '/app/$project/workflows/$workflow', params: { project, workflow: id } });
    },
  });
  const choose = (next: Starter | null) => {
    // What somebody has typed stays.
    if (name === (starter?.name ?? '')) setName(next?.name ?? '');
    if (eventName === (starter?.eventName ?? '')) setEventName(next?.eventName ?? '');
    setStarter(next);
  };
  const problemOf = (field: string) => (create.error instanceof ApiError ? create.error.problemOf(field) : undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Dialog title="New workflow" description="New workflows are disabled until you enable them." onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <StarterChoice value={starter} onChange={choose} />
        <TextField
          label="Name"
          required
          maxLength={255}
          value={name}
          problem={problemOf('name')}
          onChange={(event) => setName(event.target.value)}
        />
        <TriggerFields
          kind={triggerType === 'EVENT' ? kindOf(eventName, kind) : triggerType}
          eventName={eventName}
          problem={problemOf('eventName')}
          onKind={(next) => {
            if (!isEventKind(next)) return setTriggerType(next);
            setTriggerType('EVENT');
            setKind(next);
            setEventName(eventOfKind(eventName, next));
          }}
          onChange={setEventName}
        />
        <CheckField
          label="Allow re-entry"
          hint="Otherwise each contact enters only once."
          checked={allowReentry}
          onChange={(event) => setAllowReentry(event.target.checked)}
        />
        {starter ? <Emails starter={starter} emails={emails} problem={problemOf('from')} /> : null}
        {create.error ? <Problem error={create.error} /> : null}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={create.isPending}>
            Create
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

type OtherTrigger = Exclude<Workflow['triggerType'], 'EVENT'>;
const eventKinds: readonly string[] = ['event', 'entry', 'exit'] satisfies EventKind[];
const isEventKind = (kind: string): kind is EventKind => eventKinds.includes(kind);

function TriggerFields({
  kind,
  eventName,
  problem,
  onKind,
  onChange,
}: {
  kind: EventKind | OtherTrigger;
  eventName: string;
  problem: string | undefined;
  onKind: (kind: EventKind | OtherTrigger) => void;
  onChange: (eventName: string) => void;
}) {
  return (
    <>
      <SelectField
        label="Starts when"
        {...(kind === 'DATE' || kind === 'SCHEDULE' ? { hint: 'Set it in the trigger of the new workflow.' } : {})}
        value={kind}
        onChange={(event) => onKind(event.target.value as EventKind | OtherTrigger)}
      >
        <option value="event">An event is tracked</option>
        <option value="CONTACT_CREATED">A contact is created</option>
        <option value="entry">A contact enters a segment</option>
        <option value="exit">A contact leaves a segment</option>
        <option value="DATE">A date of a contact is reached</option>
        <option value="SCHEDULE">A schedule is due</option>
        <option value="MANUAL">You or the API start it</option>
      </SelectField>
      {kind === 'event' ? (
        <EventField
          label="Trigger event"
          hint="Exactly as tracked. Case matters."
          required
          value={eventName}
          problem={problem}
          onChange={onChange}
        />
      ) : !isEventKind(kind) ? null : (
        <SegmentEventField kind={kind} value={eventName} problem={problem} onChange={onChange} />
      )}
    </>
  );
}

/** Whether the emails of a starter are created, and from which address: `sender` is null where they are not. */
function useEmails() {
  const domains = useSenderDomains();
  const [wanted, setWanted] = useState<boolean | null>(null);
  const [typed, setFrom] = useState<string | null>(null);
  const from = typed ?? usualSender(domains ?? []);
  // Without a verified domain nothing could be created.
  const isWanted = wanted ?? (domains ?? []).length > 0;
  return { from, setFrom, isWanted, setWanted, hasDomain: (domains ?? []).length > 0, sender: isWanted ? from : null };
}

function Emails({
  starter,
  emails: { from, setFrom, isWanted, setWanted, hasDomain },
  problem,
}: {
  starter: Starter;
  emails: ReturnType<typeof useEmails>;
  problem: string | undefined;
}) {
  const all = Object.values(starter.emails);
  return (
    <>
      <CheckField
        label={`Create ${counted(all.length, 'template')} for its emails`}
        hint={
          isWanted || hasDomain
            ? `${all.map(({ name }) => name).join(', ')}. Otherwise you choose a template in each step.`
            : 'Verify a domain first, or choose a template in each step.'
        }
        checked={isWanted}
        onChange={(event) => setWanted(event.target.checked)}
      />
      {isWanted ? <SenderField value={from} problem={problem} onChange={setFrom} /> : null}
    </>
  );
}
