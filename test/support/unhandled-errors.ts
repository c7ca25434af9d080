import { rmSync, writeFileSync } from 'node:fs';
import type { Reporter } from 'vitest/node';

/** Where it is noted that a run with this JSON report had errors outside of tests. */
export const unhandledOf = (report: string): string => report.replace(/\.json$/, '-unhandled.txt');

/** Notes errors outside of tests, which the JSON report leaves out, so that a repetition of failed tests does not hide them. */
export function noteUnhandledErrors(report: string): Reporter {
  const path = unhandledOf(report);
  return {
    onTestRunStart: () => rmSync(path, { force: true }),
    onTestRunEnd: (_, errors) => {
      if (errors.length > 0) writeFileSync(path, errors.map(({ message }) => `${message}\n`).join(''));
    },
  };
}
