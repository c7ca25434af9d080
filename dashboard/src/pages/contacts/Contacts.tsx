import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Download, Ellipsis, ListFilter, Upload, UserPlus } from 'lucide-react';
import { useState } from 'react';
import { ApiError } from '../../api/errors.ts';
import { useDialog, useProjectId } from '../../app/address.ts';
import { ChoiceFilter, SearchFilter } from '../../app/filters.tsx';
import { filtersIn, formOf } from '../../conditions/tree.ts';
import { Button } from '../../ui/Button.tsx';
import { Menu, MenuItem } from '../../ui/Menu.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty } from '../../ui/States.tsx';
import { counted } from '../../words/numbers.ts';
import { ImportDialog } from './import/ImportDialog.tsx';
import { ColumnsMenu } from './list/ColumnsMenu.tsx';
import { ContactRows } from './list/ContactRows.tsx';
import { ExportDialog } from './list/ExportDialog.tsx';
import { FieldFilter } from './list/FieldFilter.tsx';
import { filterOf, type ListState, useChosenColumns, useListState, usualColumns } from './list/list.ts';
import { SelectionBar } from './list/SelectionBar.tsx';
import { useSelection } from './list/selection.ts';
import { useContacts } from './list/use-contacts.ts';
import { Views } from './list/Views.tsx';
import { NewContactDialog } from './NewContactDialog.tsx';

/** The contacts of the project: any filter, any columns, and what is done with many of them. */
export function Contacts() {
  const [state, change] = useListState();
  const [chosenColumns, keepColumns] = useChosenColumns();
  const [dialog, setDialog] = useDialog();
  const { contacts, rows, total, list } = useContacts(state);
  const selection = useSelection(list, rows, total ?? 0);
  const columns = state.columns ?? chosenColumns ?? usualColumns;
  const isFiltered = list !== '{}';
  return (
    <Page
      title="Contacts"
      about={
        total === undefined ? undefined : isFiltered ? `${counted(total, 'contact')} match` : counted(total, 'contact')
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
      {selection.count > 0 ? <SelectionBar {...{ selection, state, columns, rows }} total={total ?? 0} /> : null}
      {contacts.error instanceof ApiError && contacts.error.status === 400 && state.condition ? null : (
        <ContactRows
          query={contacts}
          {...{ state, columns, selection }}
          onSort={(sort, dir) => change({ sort, dir })}
          empty={<None isFiltered={isFiltered} onImport={() => setDialog('import')} />}
        />
      )}
      <Dialogs {...{ dialog, state, columns }} total={total ?? 0} onClose={() => setDialog(null)} />
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

function Dialogs({
  dialog,
  state,
  columns,
  total,
  onClose,
}: {
  dialog: string | null;
  state: ListState;
  columns: readonly string[];
  total: number;
  onClose: () => void;
}) {
  const project = useProjectId();
  const queries = useQueryClient();
  const refresh = () => void queries.invalidateQueries({ queryKey: ['contacts', project] });
  switch (dialog) {
    case 'import':
      return <ImportDialog onClose={onClose} onDone={refresh} />;
    case 'add':
      return <NewContactDialog onClose={onClose} onDone={refresh} />;
    case 'export': {
      const selector = { mode: 'query' as const, filter: filterOf(state), excludeIds: [] };
      return <ExportDialog chosen={{ selector, count: total }} columns={columns} onClose={onClose} />;
    }
    default:
      return null;
  }
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
  const filters = state.condition ? [...filtersIn(formOf(state.condition))].length : 0;
  return (
    <>
      <div className="filters">
        <SearchFilter label="Search contacts" />
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
      {isOpen ? (
        <div className="mb-4">
          <FieldFilter
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
