import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { useFilters, useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { TextField } from '../../../ui/Field.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Shown } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { localText, ownZone } from '../../../words/times.ts';
import { ContactHistory } from '../ContactHistory.tsx';

/** Who changed what of a contact, and the contact as it was at any instant. */
export function HistoryTab({ contact }: { contact: string }) {
  const [{ asOf: asked = '' }, change] = useFilters();
  const asOf = Number.isNaN(Date.parse(asked)) ? undefined : asked;
  return (
    <div className="stack">
      <div className="filters">
        <TextField
          label={`View contact as of (${ownZone()})`}
          type="datetime-local"
          value={asOf ? localText(asOf) : ''}
          onChange={({ target }) =>
            change({ asOf: target.value === '' ? undefined : new Date(target.value).toISOString() })
          }
        />
        {asOf ? <Button onClick={() => change({ asOf: undefined })}>Back to now</Button> : null}
      </div>
      {asOf ? <Former contact={contact} asOf={asOf} /> : null}
      <ContactHistory contact={contact} onMoment={(at) => change({ asOf: at })} />
    </div>
  );
}

function Former({ contact, asOf }: { contact: string; asOf: string }) {
  const project = useProjectId();
  const former = useQuery({
    queryKey: ['contacts', project, contact, 'as of', asOf],
    queryFn: () => answer(api.GET('/contacts/{id}', { params: { path: { id: contact }, query: { at: asOf } } })),
    retry: false,
  });
  return (
    <Card
      title={
        <>
          As of <Timestamp at={asOf} after />
        </>
      }
    >
      <Shown query={former}>
        {({ email, subscribed, data }) => (
          <dl className="facts">
            <dt>Email</dt>
            <dd className="break">{email}</dd>
            <dt>Subscribed</dt>
            <dd>{subscribed ? 'Yes' : 'No'}</dd>
            {Object.entries(data ?? {}).map(([key, value]) => (
              <Value key={key} name={key} value={value} />
            ))}
          </dl>
        )}
      </Shown>
    </Card>
  );
}

function Value({ name, value }: { name: string; value: unknown }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="break" dir="auto">
        {typeof value === 'string' ? value : JSON.stringify(value)}
      </dd>
    </>
  );
}
