import { readFileSync } from 'node:fs';
import { historyOfFolded, onlyChanged } from '../../src/audience/contacts/history-queries.ts';
import { type Database, Query } from '../../src/core/database/sql.ts';

// What the triggers of contacts did when changes were counted and nothing was kept of them.
const countingOnly = [
  `create or replace function note_contact_change() returns trigger language plpgsql as $fn$
   begin
     if tg_op = 'INSERT' then
       insert into contact_changes values (new.project_id, new.data, new.subscribed, 1);
     else
       insert into contact_changes values
         (old.project_id, old.data, old.subscribed, -1), (new.project_id, new.data, new.subscribed, 1);
     end if;
     return null;
   end $fn$`,
  `create or replace function note_contact_changes() returns trigger language plpgsql as $fn$
   begin
     if tg_op = 'INSERT' then
       insert into contact_changes select project_id, data, subscribed, 1 from came;
     elsif tg_op = 'UPDATE' then
       insert into contact_changes
         select project_id, data, subscribed, -1 from went union all select project_id, data, subscribed, 1 from came;
     else
       insert into contact_changes select project_id, data, subscribed, -1 from went;
     end if;
     return null;
   end $fn$`,
];

const withHistory = ['note_contact_change', 'note_contact_changes'].map((name) =>
  readFileSync(new URL(`../../migrations/functions/${name}.sql`, import.meta.url), 'utf8'),
);

/** Lets the triggers of contacts keep a history, or count alone as they did before there was one. */
export async function setHistory(db: Database, isKept: boolean): Promise<void> {
  for (const statement of isKept ? withHistory : countingOnly) await db.rows(statement);
}

/** A database whose folds do without the parts of the statement that make the history. @throws where a fold has no such part */
export function countingFolds(db: Database): Database {
  const [changed, history] = [onlyChanged('taken').text, historyOfFolded.text];
  return {
    ...db,
    transaction: (work) =>
      db.transaction((tx) => {
        const rows: Database['rows'] = (query, values) => {
          if (!(query instanceof Query) || !query.text.includes('from contact_changes where'))
            return tx.rows(query, values);
          if (!query.text.includes(changed) || !query.text.includes(`${history},`))
            throw new Error('A fold is not made of the parts that this benchmark takes out');
          const text = query.text.replace(changed, 'select * from taken').replace(`${history},`, '');
          return tx.rows(text, query.values);
        };
        return work({ ...tx, rows });
      }),
  };
}
