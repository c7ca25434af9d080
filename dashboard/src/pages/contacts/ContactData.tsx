import { useMutation } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import { Empty, Problem } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { InPlace } from './contact/InPlace.tsx';

interface Contact {
  id: string;
  data: Record<string, unknown>;
}

/** The free-form data of a contact, with a form that sets or removes one key. */
export function ContactData({ contact, onSaved }: { contact: Contact; onSaved: () => Promise<void> }) {
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const keys = Object.keys(contact.data).sort();
  const save = useMutation({
    mutationFn: (data: Record<string, unknown>) =>
      answer(api.PATCH('/contacts/{id}', { params: { path: { id: contact.id } }, body: { data } })),
    onSuccess: onSaved,
  });
  const set = () =>
    save.mutate(
      { [key]: typed(value) },
      {
        onSuccess: () => {
          toast('Field saved');
          setKey('');
          setValue('');
        },
      },
    );
  const remove = (name: string) =>
    save.mutate(
      { [name]: null },
      {
        onSuccess: () =>
          toast(`“${name}” deleted`, 'good', {
            text: 'Undo',
            run: () => save.mutate({ [name]: contact.data[name] }),
          }),
      },
    );
  return (
    <Card title="Fields">
      <div className="stack">
        {keys.length === 0 ? (
          <Empty title="No data yet">Fields arrive with imports, events and API calls, or are added here.</Empty>
        ) : (
          <dl className="facts">
            {keys.map((each) => (
              <DataLine
                key={each}
                name={each}
                value={contact.data[each]}
                onSave={(text) => save.mutateAsync({ [each]: valueLike(contact.data[each], text) })}
                onRemove={() => remove(each)}
              />
            ))}
          </dl>
        )}
        {save.error ? <Problem error={save.error} /> : null}
        <Form className="filters" onSubmit={set}>
          <TextField label="Field" required value={key} onChange={(event) => setKey(event.target.value)} />
          <TextField label="Value" required value={value} onChange={(event) => setValue(event.target.value)} />
          <Button type="submit" busy={save.isPending}>
            Add field
          </Button>
        </Form>
      </div>
    </Card>
  );
}

function DataLine({
  name,
  value,
  onSave,
  onRemove,
}: {
  name: string;
  value: unknown;
  onSave: (text: string) => Promise<unknown>;
  onRemove: () => void;
}) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="flex items-center gap-1">
        {typeof value === 'object' ? (
          <code>{JSON.stringify(value)}</code>
        ) : (
          <InPlace label={name} value={String(value)} onSave={onSave} />
        )}
        <Button size="small" variant="plain" aria-label={`Delete ${name}`} onClick={onRemove}>
          <X aria-hidden />
        </Button>
      </dd>
    </>
  );
}

// Values that were text stay text, such as a postal code made of digits.
function valueLike(before: unknown, text: string): unknown {
  return typeof before === 'string' ? text : typed(text);
}

// As imports read cells: plain decimals are numbers, true and false are truth values, everything else stays text.
function typed(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (!/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) return text;
  // Beyond this a number, such as the ID of an order, would come back as another one.
  return Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER ? Number(text) : text;
}
