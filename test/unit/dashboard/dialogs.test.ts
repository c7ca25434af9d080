import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { dialogsByPage, drawnElsewhere, type Opening, renderedIn } from '../../support/dialogs.ts';

const folder = fileURLToPath(new URL('../../../dashboard/src/', import.meta.url));
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.tsx'))
  .map((file) => [file, readFileSync(folder + file, 'utf8')] as const);
const rows = Object.values(dialogsByPage).flat();
const roles: readonly Opening['role'][] = ['dialog', 'alertdialog', 'menu'];

test('each dialog and menu of the dashboard has a row in the table of those that are opened and checked', () => {
  const without = sources
    .filter(([file]) => !(file in drawnElsewhere))
    .flatMap(([file, source]) => {
      const rendered = renderedIn(source);
      return roles.flatMap((role) => {
        const listed = rows.filter((row) => row.file === file && row.role === role).length;
        return listed < rendered[role] ? [`${file}: ${rendered[role]} × ${role}, ${listed} in the table`] : [];
      });
    });
  expect(without).toEqual([]);
});

test('the table names files that there are, for what they render', () => {
  const known = new Map(sources);
  const files = [...rows.map(({ file }) => file), ...Object.keys(drawnElsewhere)];
  expect(files.filter((file) => !known.has(file))).toEqual([]);
  expect(rows.filter(({ file, role }) => renderedIn(known.get(file) ?? '')[role] === 0)).toEqual([]);
});

test('dialogs and menus are drawn by the components that the table counts', () => {
  const drawn =
    /from '@radix-ui\/react-(?:alert-dialog|dialog|dropdown-menu|menu|popover|select)'|(?<!\[)\brole="(?:alertdialog|dialog|menu)"|<dialog\b(?!\.)/;
  const files = sources.filter(([, source]) => drawn.test(source)).map(([file]) => file);
  expect(files.sort()).toEqual(['app/CommandPalette.tsx', 'ui/overlays/OpenDialog.tsx', 'ui/overlays/OpenMenu.tsx']);
});
