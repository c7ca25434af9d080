import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { CheckField, TextField } from '../../ui/Field.tsx';
import { Problem } from '../../ui/States.tsx';
import { eventText } from '../../words/events.ts';

/** Asks for the name and the event of a new automation, and opens its designer. */
export function NewWorkflow({ onClose }: { onClose: () => void }) {
  const project = useProjectId();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [eventName, setEventName] = useState('');
  const [allowReentry, setAllowReentry] = useState(false);
  const create = useMutation({
    mutationFn: () => answer(api.POST('/workflows', { body: { name, eventName, allowReentry } })),
    onSuccess: ({ id }) => navigate({ to: '/app/$project/workflows/$workflow', params: { project, workflow: id } }),
  });
  const refused = create.error instanceof ApiError ? create.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Dialog title="New workflow" description="New workflows are disabled until you enable them." onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Name"
          required
          maxLength={255}
          value={name}
          problem={refused?.problemOf('name')}
          onChange={(event) => setName(event.target.value)}
        />
        <EventField
          label="Trigger event"
          hint="Exactly as tracked. Case matters. A schedule or starts by hand can be chosen later."
          required
          value={eventName}
          problem={refused?.problemOf('eventName')}
          onChange={setEventName}
        />
        <CheckField
          label="Allow re-entry"
          hint="Otherwise each contact enters only once."
          checked={allowReentry}
          onChange={(event) => setAllowReentry(event.target.checked)}
        />
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

/** The name of an event; those that the project has tracked are offered. */
export function EventField({
  onChange,
  ...rest
}: {
  label: string;
  hint?: string;
  required?: boolean;
  value: string;
  problem?: string | undefined;
  onChange: (value: string) => void;
}) {
  const project = useProjectId();
  const names = useQuery({
    queryKey: ['events', project, 'names'],
    queryFn: () => answer(api.GET('/events/names')),
  });
  return (
    <>
      <TextField
        {...rest}
        maxLength={255}
        list="event-names"
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id="event-names">
        {names.data?.eventNames.map((name) => (
          <option key={name} value={name} label={eventText(name)} />
        ))}
      </datalist>
    </>
  );
}
