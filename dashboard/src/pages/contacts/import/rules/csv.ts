/** The beginning of a CSV file, for people to look at. */
export interface Beginning {
  /** The header as it stands in the file. */
  columns: string[];
  rows: string[][];
}

/**
 * Reads the first rows of a file (RFC 4180: quotes, doubled quotes, line breaks inside them). Only for the eye: the
 * service reads the file itself, and what it says counts.
 */
export function beginningOf(text: string): Beginning {
  const [columns = [], ...rows] = records(text.replace(/^\uFEFF/, ''), 21);
  return { columns, rows };
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
