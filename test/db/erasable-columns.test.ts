import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { erasableColumns } from '../support/erasable-columns.ts';

test('what an erasure does is decided for every column that can hold an address, a name or data of a contact', async () => {
  await using database = await testDatabase();
  await database.db.rows('alter table contacts add column planted text');
  const rows = await database.db.rows<{ name: string }>(
    `select c.table_name || '.' || c.column_name as name from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
       and c.data_type in ('text', 'jsonb', 'json', 'bytea', 'ARRAY', 'character varying')
       and c.udt_name not in ('_uuid', '_int4') order by 1`,
  );
  const decided = Object.values(erasableColumns).flatMap((tables) =>
    Object.entries(tables).flatMap(([table, columns]) =>
      columns
        .split(/\s+/)
        .filter(Boolean)
        .map((column) => `${table}.${column}`),
    ),
  );
  expect(rows.map(({ name }) => name).filter((name) => !decided.includes(name))).toEqual(['contacts.planted']);
});
