import { maxFilters, maxLevels } from './grammar.ts';
import { filtersIn, formOf, type Tree, type TreeGroup } from './tree.ts';

// No index helps: every test is made of every contact, and a million of them take about half a second.
const mostTests = 60;
const mostWork = 3_000_000;
// As in `contactName`, `First Name` and `firstName` are one field to people.
const plain = (field: string) =>
  field
    .replace(/^data\./, '')
    .toLowerCase()
    .replaceAll(/[\s_-]/g, '');
const first = ['firstname', 'lastname', 'name', 'fullname', 'displayname', 'company', 'companyname', 'organization'];
const isAddress = (text: string) => text.includes('@');
// The service takes no others as names of fields.
const isSearchable = (field: string) => !field.includes('__proto__') && field.split('.').length <= 20;

/** How a list of contacts is searched, and by which text fields. */
interface ContactSearch {
  /** The condition of the list with what is searched for; null where the search by address is all. */
  condition: Tree | null;
  fields: readonly string[];
  /** How many text fields it leaves out, where it is no search by address. */
  left: number;
}

/**
 * A search of contacts that finds in text fields as well: every word of it in the address or in one of the fields. A text with an @ is
 * looked for in addresses only, and so is any for which the condition of the list or the number of contacts leaves no room.
 */
export function searchOf(
  search: string,
  { condition, textFields, contacts }: { condition: Tree | null; textFields: readonly string[]; contacts: number },
): ContactSearch {
  const words = isAddress(search) || search.length > 255 ? [] : [...new Set(search.split(/\s+/).filter(Boolean))];
  const ways = words.map(spellings);
  const room = Math.min(mostTests, Math.floor(mostWork / contacts), maxFilters - countOf(condition)) - words.length;
  const most = Math.max(0, Math.floor(room / ways.flat().length));
  const fields = words.length === 0 ? [] : inOrder(textFields.filter(isSearchable)).slice(0, most);
  if (fields.length === 0 || (condition?.logic === 'OR' && levels(condition) >= maxLevels))
    return { condition: null, fields: [], left: words.length === 0 ? 0 : textFields.length };
  const groups = ways.map((ways, n): TreeGroup => {
    const tests = fields.flatMap((field) => ways.map((value) => ({ field, operator: 'contains', value })));
    const all = [{ field: 'email', operator: 'contains', value: words[n] }, ...tests];
    return { filters: [], conditions: { logic: 'OR', groups: all.map((test) => ({ filters: [test] })) } };
  });
  // The groups of a condition keep their places, by which the service names what it refuses.
  const own = condition === null ? [] : condition.logic === 'AND' ? condition.groups : [nested(condition)];
  return {
    condition: { logic: 'AND', groups: [...own, ...groups] },
    fields,
    left: textFields.length - fields.length,
  };
}

const countOf = (tree: Tree | null) => (tree ? [...filtersIn(formOf(tree))].length : 0);
const nested = (conditions: Tree): TreeGroup => ({ filters: [], conditions });

// Conditions tell capital letters from small ones in fields, people who search do not.
function spellings(word: string): string[] {
  const lower = word.toLowerCase();
  const [initial = ''] = lower;
  return [...new Set([word, lower, initial.toUpperCase() + lower.slice(initial.length), word.toUpperCase()])];
}

function inOrder(fields: readonly string[]): string[] {
  const rank = (field: string) => (first.indexOf(plain(field)) + first.length + 1) % (first.length + 1);
  return [...fields].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function levels(tree: Tree | null | undefined): number {
  return tree ? 1 + Math.max(0, ...tree.groups.map(({ conditions }) => levels(conditions))) : 0;
}
