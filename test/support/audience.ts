import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';

/** A person of test/data/audience.csv with a usable address. */
export interface Person {
  email: string;
  firstName: string;
  data: Record<string, string>;
}

/** Every valid address of the file once, in lower case; of repeated ones the last row wins. */
export function audience(): Person[] {
  const text = readFileSync(new URL('../data/audience.csv', import.meta.url));
  const rows = parse(text, { bom: true, columns: true, relax_column_count: true }) as Record<string, string>[];
  const people = new Map<string, Person>();
  for (const row of rows) {
    const email = (row['Email Address'] ?? '').trim().toLowerCase();
    // Written apart from the service's own rule, which is what the tests hold against it.
    if (!/^[a-z0-9_'+-]+(\.[a-z0-9_'+-]+)*@([a-z0-9-]+\.)+[a-z]{2,}$/.test(email)) continue;
    const data = Object.fromEntries(
      Object.entries(row)
        .filter(([name, value]) => name !== 'Email Address' && value.trim() !== '')
        .map(([name, value]) => [name.trim().toLowerCase(), value]),
    );
    people.set(email, { email, firstName: row['First Name'] ?? '', data });
  }
  return [...people.values()];
}
