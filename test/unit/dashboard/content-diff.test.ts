import { expect, test } from 'vitest';
import { changedLines } from '../../../dashboard/src/pages/campaigns/rules/changed-lines.ts';

const paragraphs = (count: number) => Array.from({ length: count }, (_, index) => `<p>${index + 1}</p>`);

test('what is the same has no changes, whatever its line breaks', () => {
  expect(changedLines('<p>a</p>', '<p>a</p>')).toEqual([]);
  expect(changedLines('<p>a</p>\r\n<p>b</p>\n', '<p>a</p><p>b</p>')).toEqual([]);
  expect(changedLines('', '')).toEqual([]);
});

test('a change stands between lines that stayed, and long runs of these are hidden', () => {
  const before = paragraphs(10).join('');
  const after = before.replace('<p>5</p>', '<p><a href="https://acme.example">5</a></p>');
  expect(changedLines(before, after)).toEqual([
    { type: 'hidden', lines: paragraphs(2) },
    { type: 'same', lines: ['<p>3</p>', '<p>4</p>'] },
    { type: 'removed', lines: ['<p>5</p>'] },
    { type: 'added', lines: ['<p>', '<a href="https://acme.example">5</a>', '</p>'] },
    { type: 'same', lines: ['<p>6</p>', '<p>7</p>'] },
    { type: 'hidden', lines: ['<p>8</p>', '<p>9</p>', '<p>10</p>'] },
  ]);
});

test('what is between two changes is shown when it is short', () => {
  const before = paragraphs(7).join('\n');
  const after = before.replace('<p>1</p>', '<p>one</p>').replace('<p>7</p>', '<p>seven</p>');
  expect(changedLines(before, after).map(({ type, lines }) => [type, lines.length])).toEqual([
    ['removed', 1],
    ['added', 1],
    ['same', 5],
    ['removed', 1],
    ['added', 1],
  ]);
});

test('every line of both sources is in it once', () => {
  const before = [...paragraphs(40), '<p>last</p>'];
  const after = ['<p>first</p>', ...paragraphs(20), '<hr>', ...paragraphs(40).slice(25)];
  const parts = changedLines(before.join('\n'), after.join('\n'));
  const linesOf = (...types: string[]) => parts.flatMap(({ type, lines }) => (types.includes(type) ? lines : []));
  expect(linesOf('same', 'hidden', 'removed')).toEqual(before);
  expect(linesOf('same', 'hidden', 'added')).toEqual(after);
});
