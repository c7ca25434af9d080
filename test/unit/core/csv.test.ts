import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CsvPlace, type CsvRecord, RecordTooLong, readCsv } from '../../../src/imports/csv.ts';
import { readHeader, readRow } from '../../../src/imports/import-rows.ts';
import { csvFile, csvLines } from '../../../src/lib/text.ts';

async function* pieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? bytes.length);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(text: string | Buffer, sizes: readonly number[] = [7], from: CsvPlace = { offset: 0, line: 1 }) {
  const records: CsvRecord[] = [];
  let unclosedFrom: number | null = null;
  for await (const batch of readCsv(pieces(Buffer.from(text as string).subarray(from.offset), sizes), from)) {
    records.push(...batch.records);
    unclosedFrom = batch.unclosedFrom;
  }
  return { records, unclosedFrom };
}
test('a first record that is too long is read no further than that', async () => {
  let given = 0;
  async function* endless() {
    yield Buffer.from('\n\n');
    for (;;) {
      given += 100;
      yield Buffer.alloc(100, 'a');
    }
  }
  const reading = async () => {
    for await (const { records } of readCsv(endless(), { offset: 0, line: 1 }, 1_000)) expect(records).toEqual([]);
  };
  await expect(reading()).rejects.toThrow(RecordTooLong);
  expect(given).toBe(1_100);
});

describe('a large file', () => {
  /** The text of the parts, and how many turns the event loop had meanwhile. */
  async function counted<Part>(parts: AsyncIterable<Part>): Promise<{ all: Part[]; turns: number }> {
    let turns = 0;
    let timer: NodeJS.Immediate | undefined;
    const count = () => {
      turns += 1;
      timer = setImmediate(count);
    };
    timer = setImmediate(count);
    const all: Part[] = [];
    for await (const part of parts) all.push(part);
    clearImmediate(timer);
    return { all, turns };
  }

  test('is read a bite at a time, between which others have their turn', async () => {
    const file = Buffer.from('ada@example.com,Ada\n'.repeat(20_000));
    const { all, turns } = await counted(readCsv(pieces(file, [file.length]), { offset: 0, line: 1 }));
    expect(all.flatMap(({ records }) => records)).toHaveLength(20_000);
    expect(turns).toBeGreaterThanOrEqual(12);
  });

  test('is written some lines at a time, between which others have their turn', async () => {
    const rows = Array.from({ length: 1_000 }, (_, n) => [n, 'Ada']);
    const { all, turns } = await counted(csvFile(['n', 'name'], Readable.from([rows])));
    expect(all.join('')).toBe(csvLines([['n', 'name'], ...rows]));
    expect(turns).toBeGreaterThanOrEqual(9);
  });
});

const cellsOf = async (text: string) => (await read(text)).records.map(({ cells }) => cells);

// What has no quotes around it must not look as if it had, and loses the blanks in front of it.
const cell = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'é🎉',
    '株式会社',
    '=1+1',
    'x\r\ny',
    'line\nbreak',
    'say "hi"',
    'comma, cell',
    "o'hara",
    '007',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
const record = fc.array(cell, { minLength: 2, maxLength: 5 });
const ending = fc.constantFrom('\n', '\r\n');
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

describe('reading CSV', () => {
  test('any cells come back, on their lines, however the file is cut into pieces, and from any record on', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(record, ending, fc.nat(2)), { minLength: 1, maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
        async (rows, sizes) => {
          const expected: CsvRecord[] = [];
          let text = '';
          for (const [cells, lineEnd, blankLines] of rows) {
            const line = linesOf(text);
            text += cells.map(quoted).join(',') + lineEnd;
            expected.push({ cells, line, next: { offset: Buffer.byteLength(text), line: linesOf(text) } });
            text += lineEnd.repeat(blankLines);
          }
          const { records, unclosedFrom } = await read(text, sizes);
          expect(unclosedFrom).toBeNull();
          expect(records).toEqual(expected);
          for (const [index, { next }] of records.entries())
            expect((await read(text, sizes, next)).records).toEqual(expected.slice(index + 1));
        },
      ),
      { numRuns: 200 },
    );
  });

  test.each([
    ['quotes inside a cell are text', 'a,5" pipe\n', [['a', '5" pipe']]],
    ['blanks around quotes are none of the cell', 'a, "b, c" ,d\n', [['a', 'b, c', 'd']]],
    ['quoted quotes stay', '"""a"" b",c', [['"a" b', 'c']]],
    ['short and long records', 'a,b\nc\nd,e,f', [['a', 'b'], ['c'], ['d', 'e', 'f']]],
    [
      'a single CR ends a record too',
      'a,b\rc,d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'lines of blanks are no records, lines of commas are',
      'a,b\n  \n,\n',
      [
        ['a', 'b'],
        ['', ''],
      ],
    ],
    ['nothing', '', []],
  ])('%s', async (_, text, expected) => {
    expect(await cellsOf(text)).toEqual(expected);
  });

  test('quotes that are never closed end with the file, and everything before them is kept', async () => {
    const { records, unclosedFrom } = await read('a,b\r\nc,"d\r\ne,f\r\n');
    expect(records.map(({ cells }) => cells)).toEqual([['a', 'b']]);
    expect(unclosedFrom).toBe(2);
  });
});

describe('reading a row', () => {
  const row = (header: string[], cells: string[]) => {
    const columns = readHeader(header);
    if (columns === null) throw new Error('The header has no address');
    return readRow(columns, { cells, line: 7, next: { offset: 0, line: 8 } });
  };
  const dataOf = (text: string) => (row(['email', 'x'], ['a@example.org', text]) as { data: object }).data;

  test.each<[string, unknown]>([
    ['true', true],
    ['YES', true],
    ['No', false],
    ['false', false],
    ['5', 5],
    ['-0.25', -0.25],
    ['0', 0],
    ['1.10', 1.1],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', '9007199254740992'],
    ['-9007199254740993', '-9007199254740993'],
    ['007', '007'],
    ['+4', '+4'],
    ['1e5', '1e5'],
    ['1,5', '1,5'],
    ['.5', '.5'],
    ['5.', '5.'],
    ['1 000', '1 000'],
    ['Infinity', 'Infinity'],
    ['null', 'null'],
    ['2025-08-07', '2025-08-07'],
    ['yes!', 'yes!'],
  ])('the cell %j is %j', (text, value) => {
    expect(dataOf(` ${text} `)).toEqual({ x: value });
  });

  test('an empty cell says nothing', () => {
    expect(dataOf('  ')).toEqual({});
  });

  test('the last column of a name that is not empty counts', () => {
    const header = ['Email', 'Plan', ' PLAN ', 'email', 'subscribed', 'Subscribed'];
    expect(row(header, ['a@example.org', 'free', 'pro', '', 'yes', 'no'])).toEqual({
      email: 'a@example.org',
      subscribed: false,
      data: { plan: 'pro' },
    });
    expect(row(header, ['', 'free', '', 'B@example.org', 'yes', ''])).toEqual({
      email: 'b@example.org',
      subscribed: true,
      data: { plan: 'free' },
    });
  });

  test('columns that the service keeps for itself are left out, in any letter case', () => {
    const header = [
      'email',
      'ID',
      'UnsubscribeURL',
      'fernpost_email',
      'CreatedAt',
      'updatedat',
      'constructor',
      '',
      'kept',
    ];
    expect(row(header, ['a@example.org', ...Array<string>(8).fill('v')])).toMatchObject({ data: { kept: 'v' } });
    expect(
      Object.keys((row(header, ['a@example.org', ...Array<string>(8).fill('v')]) as { data: object }).data),
    ).toEqual(['kept']);
  });

  test('exports that call the column otherwise are understood, but `email` wins', () => {
    for (const name of ['Email Address', 'E-Mail', 'e-mail address'])
      expect(row([name, 'x'], ['a@example.org', '1'])).toEqual({
        email: 'a@example.org',
        subscribed: null,
        data: { x: 1 },
      });
    expect(row(['Email Address', 'email'], ['old@example.org', 'a@example.org'])).toEqual({
      email: 'a@example.org',
      subscribed: null,
      data: { 'email address': 'old@example.org' },
    });
    expect(readHeader(['mail', 'name'])).toBeNull();
  });

  test.each([
    ['', null, 'No email address'],
    ['nope', 'nope', 'Not a valid email address'],
    [`${'x'.repeat(400)}@example.org`, 'x'.repeat(320), 'Not a valid email address'],
  ])('the address %j is refused', (text, email, error) => {
    expect(row(['email'], [text])).toEqual({ row: 7, email, error });
  });
});

function linesOf(text: string): number {
  return 1 + (text.match(/\r\n|\r|\n/g)?.length ?? 0);
}
