import { readFileSync } from 'node:fs';
import { historyOfFolded, onlyChanged } from '../../src/contacts/history-queries.ts';
import { type Database, Query } from '../../src/store/sql.ts';

const withHistory = readFileSync(new URL('../../migrations/functions/write_contacts.sql', import.meta.url), 'utf8');

// The statements that note new and changed contacts, with their history and without.
const notes: readonly (readonly [history: RegExp, counts: string])[] = [
  [
    /insert into contact_changes [^;]*? from came\n/,
    'insert into contact_changes select project, data, subscribed, 1 from came\n',
  ],
  [
    /insert into contact_changes [^;]*? from written\n/,
    `insert into contact_changes
      select project, n.counted, n.is_subscribed, n.sign
      from written cross join lateral (values (data_before, subscribed_before, -1), (data, subscribed, 1)) n (counted, is_subscribed, sign)
     `,
  ],
];

/** Lets writes of contacts keep a history, or count alone as they did before there was one. @throws where the function has no such part */
export async function setHistory(db: Database, isKept: boolean): Promise<void> {
  await db.rows(isKept ? withHistory : notes.reduce(replaced, withHistory));
}

function replaced(text: string, [history, counts]: (typeof notes)[number]): string {
  if (!history.test(text)) throw new Error('write_contacts is not made of the parts that this benchmark takes out');
  return text.replace(history, counts);
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
