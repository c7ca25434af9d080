import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { usePages } from '../../../app/pages.ts';
import { Button } from '../../../ui/Button.tsx';
import { SelectField } from '../../../ui/Field.tsx';
import { NamedAddress } from '../../../ui/NamedAddress.tsx';
import { Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { count } from '../../../words/numbers.ts';
import type { Sides } from '../graph/simulation/counts.ts';

type Result = components['schemas']['WorkflowSimulationResult'];
type Comparison = Result['comparison'];
type Simulated = components['schemas']['SimulatedContacts']['data'][number];
type Execution = components['schemas']['SimulatedExecution'];

const ends: Record<Execution['end'], string> = {
  COMPLETED: 'Completed',
  EXITED: 'Exited',
  FAILED: 'Failed',
  INSIDE: 'Still inside at the end',
};
const collisions = {
  within24Hours: 'Emails within 24 hours',
  afterGoal: 'Emails after the goal',
  quietHours: 'Emails held in quiet hours',
} as const;

/** One of the filters of the list, such as `mail:onlyHere`. */
type Choice = '' | `${'mail' | 'end' | 'collision'}:${string}`;

const kinds = ['onlyHere', 'onlyThere', 'earlier', 'later'] as const;

/** The contacts of a simulation by what differs for them, how they end, or which of their emails collide. */
export function SimulatedContacts({
  workflow,
  jobId,
  comparison,
  sides,
  nameOf,
}: {
  workflow: string;
  jobId: string;
  comparison: Comparison;
  sides: Sides;
  nameOf: (stepId: string) => string;
}) {
  const project = useProjectId();
  const first = comparison && kinds.find((kind) => comparison.mails.some((mail) => mail[kind] > 0));
  const [choice, setChoice] = useState<Choice>(first ? `mail:${first}` : '');
  const [filter = '', value = ''] = choice.split(':');
  const contacts = usePages({
    queryKey: ['simulations', project, workflow, jobId, 'contacts', choice],
    fetchPage: (cursor, signal) =>
      answer(
        api.GET('/workflows/{id}/simulations/{jobId}/contacts', {
          params: {
            path: { id: workflow, jobId },
            query: { limit: 25, cursor, ...(filter ? { [filter]: value } : {}) },
          },
          signal,
        }),
      ),
  });
  const rows = contacts.data?.pages.flatMap(({ data }) => data);
  return (
    <section className="stack" aria-label="Contacts of the simulation">
      <h3>Contacts</h3>
      <FilterField choice={choice} hasOther={comparison !== null} sides={sides} onChange={setChoice} />
      <Shown query={{ ...contacts, data: rows }}>
        {(found) =>
          found.length === 0 ? (
            <p>No contacts match this filter.</p>
          ) : (
            <ContactTable rows={found} hasOther={comparison !== null} sides={sides} nameOf={nameOf} />
          )
        }
      </Shown>
      {contacts.hasNextPage ? (
        <div>
          <Button size="small" busy={contacts.isFetchingNextPage} onClick={() => void contacts.fetchNextPage()}>
            Load more after {count(rows?.length ?? 0)}
          </Button>
        </div>
      ) : null}
    </section>
  );
}

function FilterField({
  choice,
  hasOther,
  sides,
  onChange,
}: {
  choice: Choice;
  hasOther: boolean;
  sides: Sides;
  onChange: (choice: Choice) => void;
}) {
  const [here, there] = [sides.here.toLowerCase(), sides.there.toLowerCase()];
  const differences: Record<(typeof kinds)[number], string> = {
    onlyHere: `Email only in the ${here}`,
    onlyThere: `Email only ${there}`,
    earlier: `Email earlier in the ${here}`,
    later: `Email later in the ${here}`,
  };
  const options = (filter: string, names: Record<string, string>) =>
    Object.entries(names).map(([value, name]) => (
      <option key={value} value={`${filter}:${value}`}>
        {name}
      </option>
    ));
  return (
    <SelectField label="Show" value={choice} onChange={({ target }) => onChange(target.value as Choice)}>
      <option value="">All contacts</option>
      {hasOther ? <optgroup label="Emails that differ">{options('mail', differences)}</optgroup> : null}
      <optgroup label={`End in the ${here}`}>{options('end', ends)}</optgroup>
      <optgroup label={`Collisions in the ${here}`}>{options('collision', collisions)}</optgroup>
    </SelectField>
  );
}

function ContactTable({
  rows,
  hasOther,
  sides,
  nameOf,
}: {
  rows: readonly Simulated[];
  hasOther: boolean;
  sides: Sides;
  nameOf: (stepId: string) => string;
}) {
  const project = useProjectId();
  const column = (side: keyof Sides, of: (row: Simulated) => readonly Execution[]) => ({
    key: side,
    title: sides[side],
    cell: (row: Simulated) => <Executions executions={of(row)} nameOf={nameOf} />,
  });
  return (
    <Table
      label="Contacts"
      rows={rows}
      rowKey={({ contactId, executionId }) => executionId ?? contactId}
      columns={[
        {
          key: 'contact',
          title: 'Contact',
          cell: ({ contactId, name, email }) =>
            email === null ? (
              'Deleted contact'
            ) : (
              <Link to="/app/$project/contacts/$contact" params={{ project, contact: contactId }}>
                <NamedAddress name={name} email={email} />
              </Link>
            ),
        },
        column('here', ({ executions }) => executions),
        ...(hasOther ? [column('there', ({ compared }) => compared ?? [])] : []),
      ]}
    />
  );
}

/** What became of a contact on one side: its emails with their times, and how it ends. */
function Executions({ executions, nameOf }: { executions: readonly Execution[]; nameOf: (stepId: string) => string }) {
  if (executions.length === 0) return 'Does not enter';
  return executions.map(({ enteredAt, end, reason, mails, endsAt }) => (
    <div key={enteredAt}>
      <span className="block text-sm text-muted">
        Enters <Timestamp at={enteredAt} />
      </span>
      {mails.map(({ stepId, at }) => (
        <span className="block" key={`${stepId} ${at}`}>
          {nameOf(stepId)}: <Timestamp at={at} />
        </span>
      ))}
      <span className="block text-sm text-muted">
        {ends[end]}
        {reason ? `: ${reason}` : ''}, <Timestamp at={endsAt} />
      </span>
    </div>
  ));
}
