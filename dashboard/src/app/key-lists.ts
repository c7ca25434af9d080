import { mod, paletteKeys } from './mod-key.ts';
import { places } from './places.ts';

/** What keys do. Keys of one press stand together; `or` is another way. */
type KeyList = readonly { name: string; keys: readonly string[]; or?: readonly string[] }[];

/** The keys of all pages. */
const everywhere: KeyList = [
  { name: 'Search and run commands', keys: paletteKeys },
  { name: 'Show keyboard shortcuts', keys: ['?'] },
  { name: 'Search this list', keys: ['/'] },
  { name: 'First or last row of a list, or tab', keys: ['Home'], or: ['End'] },
  ...places.flatMap(({ pages }) =>
    pages.map(({ name, letter }) => ({ name: `Go to ${name}`, keys: ['G', letter.toUpperCase()] })),
  ),
];

/** The keys of the composer of emails. */
const writing: KeyList = [
  { name: 'Save', keys: [mod, 'S'] },
  { name: 'Show or hide the preview', keys: [mod, 'P'] },
  { name: 'Insert a block', keys: ['/'] },
  { name: 'Insert a variable', keys: ['{', '{'] },
  { name: 'Add or edit a link', keys: [mod, 'K'] },
  { name: 'Bold', keys: [mod, 'B'] },
  { name: 'Italic', keys: [mod, 'I'] },
  { name: 'Underline', keys: [mod, 'U'] },
  { name: 'Strikethrough', keys: [mod, 'Shift', 'S'] },
  { name: 'Code', keys: [mod, 'E'] },
  { name: 'Nest or unnest a list item', keys: ['Tab'], or: ['Shift', 'Tab'] },
  { name: 'Select the next block', keys: ['↑'], or: ['↓'] },
  { name: 'Go to the settings of the block', keys: ['Tab'] },
  { name: 'Go back to the text from the settings', keys: ['Esc'] },
  { name: 'Move the block', keys: ['Alt', '↑'], or: ['Alt', '↓'] },
  { name: 'Duplicate the block', keys: [mod, 'Shift', 'D'] },
  { name: 'Delete the selected block', keys: ['Delete'] },
  { name: 'Undo', keys: [mod, 'Z'] },
  { name: 'Redo', keys: [mod, 'Shift', 'Z'] },
  { name: 'Move or resize the crop of an image', keys: ['Arrow keys'] },
];

/** The keys of the canvas of workflows. */
export const designing: KeyList = [
  { name: 'Go to a step or path', keys: ['Tab'] },
  { name: 'Go to the next step', keys: ['Arrow keys'] },
  { name: 'Open the step or path', keys: ['Enter'] },
  { name: 'Select more steps', keys: ['Shift', 'Arrow keys'] },
  { name: 'Select all steps', keys: [mod, 'A'] },
  { name: 'Clear the selection', keys: ['Esc'] },
  { name: 'Move the step', keys: ['Alt', 'Arrow keys'] },
  { name: 'Copy', keys: [mod, 'C'] },
  { name: 'Cut', keys: [mod, 'X'] },
  { name: 'Paste', keys: [mod, 'V'] },
  { name: 'Duplicate', keys: [mod, 'D'] },
  { name: 'Delete', keys: ['Delete'] },
  { name: 'Find a step', keys: ['/'], or: [mod, 'F'] },
  { name: 'Undo', keys: [mod, 'Z'] },
  { name: 'Redo', keys: [mod, 'Y'], or: [mod, 'Shift', 'Z'] },
];

/** All keys, by where they work. The guide lists the same. */
export const keyLists: readonly { place: string; list: KeyList }[] = [
  { place: 'All pages', list: everywhere },
  { place: 'Emails', list: writing },
  { place: 'Workflows', list: designing },
];
