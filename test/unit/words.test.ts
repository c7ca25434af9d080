import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;

// Words that no reader of this field searches for, each with the term to use. In names they are found as parts: `runLane`, `told_at`.
const refused: readonly [RegExp, string][] = [
  [/(?<!(?:verified|failed) )\b(?:un)?told\b(?! apart)/i, 'emitted, notified, reported'],
  [/\b(?:look again|(?:next|another|second|last) look)\b/i, 'check, refresh'],
  [/\bdoubt(?:s|ed|ful)?\b/i, 'unconfirmed'],
  [/(?<!automation |fernpost )\barrivals\b/i, 'pending enrollments'],
  [/\bin a circle\b/i, 'deadlock, cycle'],
  [/\bshel(?:f|ves)\b/i, 'archive'],
  [/\bleash\b/i, 'parent watchdog'],
  [/\bpassages\b/i, 'path counts'],
  [/\bcaught mail\b/i, 'suppressed mail'],
  [/\blately\b/i, 'recently'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix, correct'],
];

/** A text with the words of its names apart: `runLane` and `told_at` become `run Lane` and `told at`. */
function apart(text: string): string {
  return text.replaceAll('_', ' ').replace(/([a-z\d])([A-Z])/g, '$1 $2');
}

test('names, comments, docs and texts use the terms of the field', () => {
  const files = execFileSync(
    'git',
    [
      'ls-files',
      'src',
      'workflows',
      'activities',
      'temporal',
      'packages',
      'tools',
      'dashboard/src',
      'docs',
      'migrations/functions',
      'README.md',
      'CONTRIBUTING.md',
    ],
    { cwd: root, encoding: 'utf8' },
  )
    .split('\n')
    .filter(
      (path) => /\.(?:ts|tsx|sql|md|css)$/.test(path) && !/\/test\/|decisions\/|\.d\.ts$|docs\/contract\//.test(path),
    );
  const found = files.flatMap((path) =>
    readFileSync(`${root}${path}`, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        refused.flatMap(([word, instead]) =>
          word.test(apart(line)) ? [`${path}:${index + 1} ${line.trim()} (say: ${instead})`] : [],
        ),
      ),
  );
  expect(found).toEqual([]);
});
