// `First Name`, `first_name` and `firstName` are one field to people.
const plain = (name: string) => name.toLowerCase().replaceAll(/[\s_-]/g, '');
const wholeNames = ['name', 'fullname', 'displayname'];

/** The name of a contact by the fields of its data, first and last name before a whole one; null where it has none. */
export function contactName(data: Readonly<Record<string, unknown>>): string | null {
  const fields = new Map(Object.entries(data).map(([name, value]) => [plain(name), textOf(value)]));
  const both = ['firstname', 'lastname'].flatMap((name) => fields.get(name) || []).join(' ');
  return both || wholeNames.map((name) => fields.get(name)).find(Boolean) || null;
}

const textOf = (value: unknown) => (typeof value === 'string' ? value.trim() : '');
