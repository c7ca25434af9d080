import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { SelectField } from '../../../ui/Field.tsx';
import { Form } from '../../../ui/Form.tsx';
import { Empty, Problem, Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { segmentTypeNames } from '../../segments/segment.ts';

/** The segments a contact is in; static ones are joined and left here. */
export function ContactSegments({ contact: { id, email } }: { contact: { id: string; email: string } }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const inside = useQuery({
    queryKey: ['segments', project, 'of', id],
    queryFn: async () => (await answer(api.GET('/contacts/{id}/segments', { params: { path: { id } } }))).data,
  });
  const change = useMutation({
    mutationFn: async ({ segment, joins }: { segment: { id: string; name: string }; joins: boolean }) => {
      const options = { params: { path: { id: segment.id } }, body: { emails: [email] } };
      if (joins) await answer(api.POST('/segments/{id}/members', options));
      else await answer(api.DELETE('/segments/{id}/members', options));
      return joins ? `Added to ${segment.name}` : `Removed from ${segment.name}`;
    },
    onSuccess: async (result) => {
      toast(result);
      await queries.invalidateQueries({ queryKey: ['segments', project] });
      await queries.invalidateQueries({ queryKey: ['activity', project, id] });
    },
  });
  return (
    <div className="stack">
      <Joining
        inside={new Set(inside.data?.map((segment) => segment.id))}
        isBusy={change.isPending}
        onJoin={(segment) => change.mutate({ segment, joins: true })}
      />
      {change.error ? <Problem error={change.error} /> : null}
      <Shown query={inside}>
        {(found) =>
          found.length === 0 ? (
            <Empty title="In no segment" />
          ) : (
            <Table
              label="Segments of this contact"
              rows={found}
              rowKey={(segment) => segment.id}
              columns={[
                {
                  key: 'name',
                  title: 'Segment',
                  cell: (segment) => (
                    <Link to="/app/$project/segments/$segment" params={{ project, segment: segment.id }} dir="auto">
                      {segment.name}
                    </Link>
                  ),
                },
                { key: 'type', title: 'Type', cell: ({ type }) => segmentTypeNames[type] },
                { key: 'since', title: 'Since', cell: ({ enteredAt }) => <Timestamp at={enteredAt} /> },
                {
                  key: 'leave',
                  title: 'Membership',
                  cell: (segment) =>
                    segment.type === 'STATIC' ? (
                      <Button
                        size="small"
                        aria-label={`Remove from ${segment.name}`}
                        onClick={() => change.mutate({ segment, joins: false })}
                      >
                        Remove
                      </Button>
                    ) : (
                      <span className="muted">By conditions</span>
                    ),
                },
              ]}
            />
          )
        }
      </Shown>
    </div>
  );
}

function Joining({
  inside,
  isBusy,
  onJoin,
}: {
  inside: ReadonlySet<string>;
  isBusy: boolean;
  onJoin: (segment: { id: string; name: string }) => void;
}) {
  const project = useProjectId();
  const [chosen, setChosen] = useState('');
  const segments = useQuery({ queryKey: ['segments', project], queryFn: () => answer(api.GET('/segments')) });
  const offered = (segments.data ?? []).filter(({ id, type }) => type === 'STATIC' && !inside.has(id));
  const segment = offered.find(({ id }) => id === chosen);
  return (
    <Form className="filters" onSubmit={() => segment && onJoin(segment)}>
      <SelectField label="Static segment" value={segment?.id ?? ''} onChange={({ target }) => setChosen(target.value)}>
        <option value="">{offered.length === 0 ? 'No other static segment' : 'Select a segment'}</option>
        {offered.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <Button type="submit" busy={isBusy} disabled={segment === undefined}>
        Add to segment
      </Button>
    </Form>
  );
}
