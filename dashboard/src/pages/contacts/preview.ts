/** The beginning of a CSV file, for people to look at. */
export interface Preview {
  columns: string[];
  rows: { line: number; cells: string[] }[];
  hasEmail: boolean;
}

// What the service takes for the column of addresses where none is called "email".
const otherNames = new Set(['email address', 'e-mail', 'e-mail address']);

/**
 * Reads the first five rows of a file (RFC 4180: quotes, doubled quotes, line breaks inside them). Only for the eye: the
 * service reads the file itself, and what it says counts.
 */
export function previewCsv(text: string): Preview {
  const [header = [], ...rows] = records(text.replace(/^\uFEFF/, ''), 6);
  const names = header.map((name) => name.trim().toLowerCase());
  const place = names.includes('email') ? names.indexOf('email') : names.findIndex((name) => otherNames.has(name));
  const columns = names.map((name, each) => (each === place ? 'email' : name));
  return {
    columns,
    rows: rows.map((cells, row) => ({ line: row + 2, cells })),
    hasEmail: place >= 0,
  };
}

function records(text: string, most: number): string[][] {
  const found: string[][] = [];
  let cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endCell = () => {
    cells.push(cell.trim());
    cell = '';
  };
  const endRow = () => {
    endCell();
    if (cells.some((each) => each !== '')) found.push(cells);
    cells = [];
  };
  for (let place = 0; place < text.length && found.length < most; place += 1) {
    const sign = text[place];
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[place + 1] === '"') {
        cell += '"';
        place += 1;
      } else isQuoted = false;
    } else if (sign === '"' && cell.trim() === '') {
      cell = '';
      isQuoted = true;
    } else if (sign === ',') endCell();
    else if (sign === '\n') endRow();
    else if (sign !== '\r') cell += sign;
  }
  if (found.length < most && (cell !== '' || cells.length > 0)) endRow();
  return found.slice(0, most);
}
