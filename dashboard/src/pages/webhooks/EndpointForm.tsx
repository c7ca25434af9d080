import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { commonEvents, type Endpoint, namesIn } from './endpoint.ts';

/** Adds an endpoint, or changes one. A new one comes with its signing secret. */
export function EndpointForm({
  endpoint,
  onSaved,
  onClose,
}: {
  endpoint: Endpoint | null;
  onSaved: (saved: Endpoint & { secret?: string }) => Promise<void>;
  onClose: () => void;
}) {
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const [events, setEvents] = useState(endpoint?.events.join('\n') ?? '');
  const [payload, setPayload] = useState(endpoint?.payload ?? 'full');
  const [ordered, setOrdered] = useState(endpoint?.ordered ?? false);
  const save = useMutation({
    mutationFn: (): Promise<Endpoint & { secret?: string }> => {
      const body = { url, description, events: namesIn(events), payload, ordered };
      return endpoint === null
        ? answer(api.POST('/webhook-endpoints', { body }))
        : answer(api.PATCH('/webhook-endpoints/{id}', { params: { path: { id: endpoint.id } }, body }));
    },
    onSuccess: onSaved,
  });
  return (
    <Dialog title={endpoint === null ? 'Add webhook endpoint' : 'Edit endpoint'} onClose={onClose}>
      <Form onSubmit={() => save.mutate()}>
        <TextField
          label="URL"
          type="url"
          required
          placeholder="https://example.com/webhooks/fernpost"
          value={url}
          problem={problemOf(save.error, 'url')}
          onChange={(event) => setUrl(event.target.value)}
        />
        <TextField
          label="Description"
          value={description}
          problem={problemOf(save.error, 'description')}
          onChange={(event) => setDescription(event.target.value)}
        />
        <EventsField value={events} problem={problemOf(save.error, 'events')} onChange={setEvents} />
        <SelectField
          label="Payload"
          value={payload}
          onChange={(event) => setPayload(event.target.value as Endpoint['payload'])}
        >
          <option value="full">Full event</option>
          <option value="thin">IDs only: your code fetches the rest</option>
        </SelectField>
        <CheckField
          label="In order"
          hint="One event at a time, each after the previous one was accepted. Slower."
          checked={ordered}
          onChange={(event) => setOrdered(event.target.checked)}
        />
        <FormProblem error={save.error} fields={['url', 'description', 'events']} />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={save.isPending}>
            {endpoint === null ? 'Add endpoint' : 'Save endpoint'}
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}

/** The names of events, typed or chosen. */
function EventsField({
  value,
  problem,
  onChange,
}: {
  value: string;
  problem: string | undefined;
  onChange: (value: string) => void;
}) {
  const chosen = namesIn(value);
  return (
    <>
      <TextArea
        label="Events"
        hint="One per line. email.* matches every event that starts with “email.”, and * matches all events."
        required
        value={value}
        problem={problem}
        onChange={(event) => onChange(event.target.value)}
      />
      <div className="row">
        {commonEvents
          .filter((name) => !chosen.includes(name))
          .map((name) => (
            <Button
              key={name}
              size="small"
              aria-label={`Add ${name}`}
              onClick={() => onChange([...chosen, name].join('\n'))}
            >
              {name}
            </Button>
          ))}
      </div>
    </>
  );
}
