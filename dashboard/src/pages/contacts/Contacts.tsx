import { useNavigate } from '@tanstack/react-router';
import { Download, Ellipsis, ListFilter, Upload, UserPlus } from 'lucide-react';
import { useState } from 'react';
import { ApiError } from '../../api/errors.ts';
import { useDialog, useProjectId } from '../../app/address.ts';
import { ChoiceFilter, SearchFilter } from '../../app/filters.tsx';
import { usePart } from '../../standby/use-part.ts';
import { Button } from '../../ui/Button.tsx';
import { Menu, MenuItem } from '../../ui/Menu.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty } from '../../ui/States.tsx';
import { counted } from '../../words/numbers.ts';
import { ColumnsMenu } from './list/ColumnsMenu.tsx';
import { ContactRows } from './list/ContactRows.tsx';
import type { ListDialogsProps } from './list/ListDialogs.tsx';
import { columnTitle, filtersOf, type ListState, useChosenColumns, useListState, usualColumns } from './list/list.ts';
import type { SelectionBarProps } from './list/SelectionBar.tsx';
import { useSelection } from './list/selection.ts';
import { useContacts } from './list/use-contacts.ts';
import { Views } from './list/Views.tsx';

/** The contacts of the project: any filter, any columns, and what is done with many of them. */
export function Contacts() {
  const [state, change] = useListState();
  const [chosenColumns, keepColumns] = useChosenColumns();
  const [dialog, setDialog] = useDialog();
  const { contacts, rows, total, filter, fields, left, list } = useContacts(state);
  const selection = useSelection(list, rows, total ?? 0);
  const columns = state.columns ?? chosenColumns ?? usualColumns;
  // A search puts another condition around one of alternatives, whose places are no longer those of the builder.
  const isPlaced =
    contacts.error instanceof ApiError &&
    contacts.error.status === 400 &&
    state.condition !== null &&
    (state.condition.logic === 'AND' || fields.length === 0);
  const isFiltered = list !== '{}';
  return (
    <Page
      title="Contacts"
      about={
        total === undefined
          ? undefined
          : isFiltered
            ? counted(total, 'contact matches', 'contacts match')
            : counted(total, 'contact')
      }
      actions={
        <>
          <More />
          <Button disabled={!total} onClick={() => setDialog('export')}>
            <Download aria-hidden /> Export
          </Button>
          <Button onClick={() => setDialog('add')}>
            <UserPlus aria-hidden /> Add contact
          </Button>
          <Button variant="primary" onClick={() => setDialog('import')}>
            <Upload aria-hidden /> Import
          </Button>
        </>
      }
    >
      <Filters
        state={state}
        columns={columns}
        refused={contacts.error}
        onChange={change}
        onColumns={(next) => {
          keepColumns(next);
          change({ columns: next });
        }}
      />
      {left > 0 && !contacts.isPending && !contacts.isPlaceholderData ? (
        <p className="break mb-3 text-sm text-muted" dir="auto">
          Searches {['addresses', ...fields.map(columnTitle)].join(', ')}. Use the filter for{' '}
          {counted(left, 'other field')}.
        </p>
      ) : null}
      <Selected {...{ selection, filter, columns, rows }} total={contacts.isPlaceholderData ? 0 : (total ?? 0)} />
      {isPlaced ? null : (
        <ContactRows
          query={contacts}
          {...{ state, columns, selection }}
          onSort={(sort, dir) => change({ sort, dir })}
          empty={<None isFiltered={isFiltered} onImport={() => setDialog('import')} />}
        />
      )}
      <Dialogs {...{ dialog, filter, columns }} total={total ?? 0} onClose={() => setDialog(null)} />
    </Page>
  );
}

function More() {
  const project = useProjectId();
  const navigate = useNavigate();
  return (
    <Menu
      trigger={
        <Button aria-label="More about contacts">
          <Ellipsis aria-hidden />
        </Button>
      }
    >
      <MenuItem onSelect={() => void navigate({ to: '/app/$project/contact-jobs', params: { project } })}>
        Imports and bulk changes
      </MenuItem>
      <MenuItem onSelect={() => void navigate({ to: '/app/$project/erasures', params: { project } })}>
        Erasures
      </MenuItem>
    </Menu>
  );
}

// Nothing of this is in sight at first.
const loadDialogs = () => import('./list/ListDialogs.tsx');
const loadFilter = () => import('./list/FieldFilter.tsx');
const loadSelection = () => import('./list/SelectionBar.tsx');

function Dialogs(props: ListDialogsProps) {
  const part = usePart(loadDialogs, props.dialog !== null);
  return part && props.dialog !== null ? <part.ListDialogs {...props} /> : null;
}

function Selected(props: SelectionBarProps) {
  const isAny = props.selection.count > 0;
  const part = usePart(loadSelection, isAny);
  return part && isAny ? <part.SelectionBar {...props} /> : null;
}

function Filters({
  state,
  columns,
  refused,
  onChange,
  onColumns,
}: {
  state: ListState;
  columns: readonly string[];
  refused: unknown;
  onChange: (change: Partial<ListState>) => void;
  onColumns: (columns: readonly string[] | null) => void;
}) {
  const [isOpen, setOpen] = useState(state.condition !== null);
  const part = usePart(loadFilter, isOpen);
  const filters = filtersOf(state.condition);
  return (
    <>
      <div className="filters">
        <SearchFilter label="Search contacts" placeholder="Address or any text" />
        <ChoiceFilter
          name="subscribed"
          label="Subscription"
          all="All contacts"
          choices={[
            ['true', 'Subscribed'],
            ['false', 'Not subscribed'],
          ]}
        />
        <div className="row">
          <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <ListFilter aria-hidden /> {filters > 0 ? `Filter: ${counted(filters, 'field')}` : 'Filter'}
          </Button>
          <ColumnsMenu columns={columns} onChange={onColumns} />
          <Views state={state} onChange={onChange} />
        </div>
      </div>
      {isOpen && part ? (
        <div className="mb-4">
          <part.FieldFilter
            condition={state.condition}
            refused={refused}
            onChange={(condition) => onChange({ condition })}
            onClose={() => setOpen(false)}
          />
        </div>
      ) : null}
    </>
  );
}

function None({ isFiltered, onImport }: { isFiltered: boolean; onImport: () => void }) {
  return isFiltered ? (
    <Empty title="No contacts match">Try a different search, or clear the filters.</Empty>
  ) : (
    <Empty title="No contacts yet" action={<Button onClick={onImport}>Import contacts</Button>}>
      Contacts appear here when you import a file, track an event or send an email.
    </Empty>
  );
}
