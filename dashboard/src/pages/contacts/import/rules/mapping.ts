import type { Beginning } from './csv.ts';

/** The type that the cells of a column are converted to. */
export const cellTypeNames = {
  auto: 'Detect',
  text: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  date: 'Date',
} as const;
/** Labels of those types. */
export type CellType = keyof typeof cellTypeNames;

/** The target of a column of a file. */
export interface ColumnChoice {
  /** As it stands in the file. */
  name: string;
  samples: string[];
  /** `email`, `subscribed`, `data.<key>`, or '' to skip it. */
  field: string;
  type: CellType;
}

// In the order in which the service chooses.
const emailNames = ['email', 'email address', 'e-mail address', 'e-mail'];
// Only where every cell that is shown says yes or no: anything else would be read as no.
const subscriptionNames = new Set(
  [
    'newsletter',
    'opt-in',
    'opted in',
    'subscribed',
    'subscription',
    'subscriber',
    'is subscribed',
    'email opt-in',
    'marketing',
    'accepts marketing',
    'accepts email marketing',
    'marketing consent',
    'consent',
  ].map(folded),
);
const yesOrNo = /^(true|false|yes|no|1|0)$/i;
const reserved = new Set(['id', 'email', 'createdat', 'updatedat', '']);

/** Guesses the targets of a file's columns from their names; `fields` are the existing ones. */
export function choicesOf({ columns, rows }: Beginning, fields: readonly string[]): ColumnChoice[] {
  const names = columns.map((name) => name.trim().toLowerCase());
  const emailName = emailNames.find((name) => names.includes(name));
  const known = new Map(fields.map((field) => [folded(field.replace(/^data\./, '')), field]));
  const cellsOf = (place: number) => [
    ...new Set(rows.map((cells) => cells[place]?.trim() ?? '').filter((cell) => cell !== '')),
  ];
  // The name that the service itself reads wins, and a field that contacts have stays that field.
  const guessed = names.findIndex(
    (name, place) =>
      subscriptionNames.has(folded(name)) &&
      !known.has(folded(name)) &&
      cellsOf(place).length > 0 &&
      cellsOf(place).every((cell) => yesOrNo.test(cell)),
  );
  const subscription = names.includes('subscribed') ? -1 : guessed;
  return columns.map((name, place) => {
    const own = names[place] ?? '';
    return {
      name,
      samples: cellsOf(place).slice(0, 3),
      field:
        own === emailName
          ? 'email'
          : own === 'subscribed' || place === subscription
            ? 'subscribed'
            : reserved.has(own)
              ? ''
              : (known.get(folded(own)) ?? `data.${camelCase(name)}`),
      type: 'auto',
    };
  });
}

/** The choices as the API takes them. Columns without a name cannot be imported. */
export function mappingOf(choices: readonly ColumnChoice[]) {
  return Object.fromEntries(
    choices
      .filter(({ name }) => name.trim() !== '')
      .map(({ name, field, type }) => [
        name,
        field === '' ? null : { field, type: /^data\./.test(field) ? type : 'auto' },
      ]),
  );
}

/** Returns the reason that the choices cannot be imported as a sentence; null when they can. */
export function missingColumn(choices: readonly ColumnChoice[]): string | null {
  if (!choices.some(({ field }) => field === 'email')) return 'Choose the column with the email addresses.';
  if (choices.some(({ field }) => field === 'data.')) return 'Enter a name for each new field.';
  const data = choices.map(({ field }) => field).filter((field) => field.startsWith('data.'));
  const twice = data.find((field, place) => data.indexOf(field) !== place);
  return twice === undefined ? null : `Two columns go to “${twice.slice('data.'.length)}”. Skip one of them.`;
}

/** A header as the name of a new field, in the case of the variables that starters use: `First Name` becomes `firstName`. */
function camelCase(header: string): string {
  const words = header
    .trim()
    .split(/[\s_-]+/)
    .filter(Boolean);
  const isShouted = header === header.toUpperCase();
  return words
    .map((word, place) => {
      const plain = isShouted || words.length > 1 ? word.toLowerCase() : word;
      return place === 0
        ? plain.slice(0, 1).toLowerCase() + plain.slice(1)
        : plain.slice(0, 1).toUpperCase() + plain.slice(1);
    })
    .join('');
}

// `First Name`, `first_name` and `firstName` are one field to people.
function folded(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}
