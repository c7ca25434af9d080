import { contactName } from '@fernpost/email-document/contact-name';
import type { InfiniteData } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { CSSProperties, ReactNode } from 'react';
import { useProjectId } from '../../../app/address.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { EndlessRows } from '../../../ui/EndlessRows.tsx';
import { NamedAddress } from '../../../ui/NamedAddress.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { type Contact, columnTitle, type ListState, type Sort, sorts } from './list.ts';
import type { ContactSelection } from './selection.ts';

interface Shared {
  project: string;
  columns: readonly string[];
  selection: ContactSelection;
}

// Of a contact with a name.
const rowHeight = 61;
const grid = 'sm:grid sm:grid-cols-(--contact-columns) sm:items-center sm:gap-3';

/** The contacts of a list in columns, each with a checkbox. On a phone every contact is a block with its values below. */
export function ContactRows({
  query,
  state,
  columns,
  selection,
  onSort,
  empty,
}: Omit<Shared, 'project'> & {
  query: Parameters<typeof EndlessRows<{ data: Contact[] }, Contact>>[0]['query'] & {
    data: InfiniteData<{ data: Contact[] }> | undefined;
  };
  state: ListState;
  onSort: (sort: Sort, dir: 'asc' | 'desc') => void;
  empty: ReactNode;
}) {
  const project = useProjectId();
  const style = {
    '--contact-columns': `1.25rem ${columns.map((column) => (column === 'email' ? 'minmax(14rem,2fr)' : 'minmax(9rem,1fr)')).join(' ')}`,
  } as CSSProperties;
  return (
    <div style={style}>
      <EndlessRows
        label="Contacts"
        query={query}
        rowsOf={(page) => page.data}
        rowKey={({ id }) => id}
        rowHeight={rowHeight}
        minWidth={`${columns.length * 9.75 + 8}rem`}
        head={<Head {...{ columns, selection, state, onSort }} />}
        empty={empty}
      >
        {(contact) => <Row {...{ project, contact, columns, selection }} />}
      </EndlessRows>
    </div>
  );
}

function Head({
  columns,
  selection,
  state,
  onSort,
}: Omit<Shared, 'project'> & { state: ListState; onSort: (sort: Sort, dir: 'asc' | 'desc') => void }) {
  return (
    <div className={`flex items-center gap-3 ${grid}`}>
      <input
        type="checkbox"
        className="size-4"
        aria-label="Select loaded contacts"
        checked={selection.count > 0}
        ref={(box) => {
          if (box) box.indeterminate = selection.count > 0 && !selection.isAll;
        }}
        onChange={selection.toggleLoaded}
      />
      {columns.map((column) => {
        const sort = sorts.find((known) => known === column);
        const dir = sort === state.sort ? state.dir : null;
        return sort ? (
          <button
            key={column}
            type="button"
            className={`inline-flex cursor-pointer items-center gap-1 text-start ${column === 'email' ? '' : 'max-sm:hidden'}`}
            aria-label={`Sort by ${columnTitle(column).toLowerCase()}${dir ? (dir === 'asc' ? ', ascending' : ', descending') : ''}`}
            onClick={() => onSort(sort, dir === 'asc' || (dir === null && sort !== 'email') ? 'desc' : 'asc')}
          >
            {columnTitle(column)}
            {dir === 'asc' ? <ArrowUp aria-hidden className="size-3.5" /> : null}
            {dir === 'desc' ? <ArrowDown aria-hidden className="size-3.5" /> : null}
          </button>
        ) : (
          <span key={column} className="break max-sm:hidden" dir="auto">
            {columnTitle(column)}
          </span>
        );
      })}
    </div>
  );
}

function Row({ project, contact, columns, selection }: Shared & { contact: Contact }) {
  const [first = 'email', ...rest] = columns;
  return (
    <div className={`grid grid-cols-[1.25rem_minmax(0,1fr)] gap-x-3 gap-y-1 ${grid}`}>
      <input
        type="checkbox"
        className="mt-0.5 size-4 sm:mt-0"
        aria-label={`Select ${contact.email}`}
        checked={selection.has(contact.id)}
        // The click has the modifier keys, the change has not.
        onClick={(event) => selection.toggle(contact.id, event.shiftKey)}
        onChange={() => undefined}
      />
      {[first, ...rest].map((column) => (
        <div key={column} className="min-w-0 max-sm:col-start-2 max-sm:flex max-sm:gap-2">
          <span
            className={`text-sm text-muted sm:sr-only ${column === 'email' || column === 'subscribed' ? 'sr-only' : ''}`}
          >
            {columnTitle(column)}{' '}
          </span>
          <Cell {...{ project, contact, column }} />
        </div>
      ))}
    </div>
  );
}

function Cell({ project, contact, column }: { project: string; contact: Contact; column: string }) {
  switch (column) {
    case 'email':
      return (
        <Link
          data-main
          className="break"
          to="/app/$project/contacts/$contact"
          params={{ project, contact: contact.id }}
        >
          <NamedAddress name={contactName(contact.data)} email={contact.email} />
        </Link>
      );
    case 'subscribed':
      return (
        <Badge tone={contact.subscribed ? 'good' : undefined}>
          {contact.subscribed ? 'Subscribed' : 'Not subscribed'}
        </Badge>
      );
    case 'createdAt':
    case 'updatedAt':
      return (
        <span className="text-sm text-muted">
          <Timestamp at={contact[column]} />
        </span>
      );
    case 'id':
      return <code className="break text-sm">{contact.id}</code>;
    default:
      return <Value value={contact.data[column.slice('data.'.length)]} />;
  }
}

function Value({ value }: { value: unknown }) {
  if (value === undefined || value === null) return <span className="text-muted">–</span>;
  return (
    <span className="break line-clamp-2" dir="auto">
      {typeof value === 'string' ? value : JSON.stringify(value)}
    </span>
  );
}
