import { Columns3 } from 'lucide-react';
import { useContactFields } from '../../../app/contact-fields.ts';
import { Button } from '../../../ui/Button.tsx';
import { Menu, MenuCheck, MenuItem, MenuLabel, MenuSeparator } from '../../../ui/Menu.tsx';
import { builtInColumns, columnTitle } from './list.ts';

/** The fields of the project's contacts, as columns. */
export function useDataColumns(): readonly string[] {
  const fields = useContactFields();
  return (fields.data?.fields ?? []).filter(({ isCustom }) => isCustom).map(({ field }) => field);
}

/** Chooses the columns of the list; the address always stays. */
export function ColumnsMenu({
  columns,
  onChange,
}: {
  columns: readonly string[];
  /** Null goes back to the usual ones. */
  onChange: (columns: readonly string[] | null) => void;
}) {
  const fields = useDataColumns();
  const offered = [...new Set([...columns.filter((name) => name.startsWith('data.')), ...fields])].sort();
  const item = (column: string) => (
    <MenuCheck
      key={column}
      checked={columns.includes(column)}
      onChange={(checked) => onChange(checked ? [...columns, column] : columns.filter((each) => each !== column))}
    >
      {columnTitle(column)}
    </MenuCheck>
  );
  return (
    <Menu
      trigger={
        <Button>
          <Columns3 aria-hidden /> Columns
        </Button>
      }
    >
      <MenuLabel>Contact</MenuLabel>
      {builtInColumns.filter((column) => column !== 'email').map(item)}
      {offered.length > 0 ? <MenuLabel>Fields</MenuLabel> : null}
      {offered.map(item)}
      <MenuSeparator />
      <MenuItem onSelect={() => onChange(null)}>Reset columns</MenuItem>
    </Menu>
  );
}
