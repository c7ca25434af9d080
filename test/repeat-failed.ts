import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unhandledOf } from './support/unhandled-errors.ts';

// For `.ci/run`, after an `npm test` that failed: repeats the files with failures once, each alone on the machine, says which tests were
// flaky, and puts the files' new results into the report. Exits with 0 only when everything passes now. With `soak`, it does so for the
// tests in a browser that the soak runs, and only if nothing else of it failed.
const root = fileURLToPath(new URL('..', import.meta.url));
const isSoak = process.argv[2] === 'soak';
const report = join(root, isSoak ? '.cache/test-results-long.json' : '.cache/test-results.json');
const mayRepeat = ({ name }: FileResult): boolean => !isSoak || name.includes('/test/browser/');
const repeated = join(root, '.cache/test-results-repeated.json');
// More than a few failures at once are a defect of the change.
const mostFiles = 3;

interface FileResult {
  name: string;
  status: string;
  assertionResults: { fullName: string; status: string }[];
}
interface Report {
  testResults: FileResult[];
}

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Report;
const testsOf = (file: FileResult, wanted: string) =>
  file.assertionResults.filter(({ status }) => status === wanted).map(({ fullName }) => fullName);

/** Runs these files and nothing beside them; answers the exit code. */
async function run(files: readonly string[]): Promise<number> {
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/vitest.config.ts'];
  const child = spawn(process.execPath, [...vitest, '--maxWorkers=1', ...files], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_RESULTS: relative(root, repeated) },
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}

async function repeatFailed(): Promise<number> {
  // What goes wrong outside of tests belongs to no file that could be repeated.
  if (!existsSync(report) || existsSync(unhandledOf(report))) return 1;
  const first = read(report);
  const failed = first.testResults.filter(({ status }) => status === 'failed');
  if (failed.length === 0 || failed.length > mostFiles || !failed.every(mayRepeat)) return 1;
  console.log(`\nRepeating ${failed.length} of ${first.testResults.length} files that failed`);
  rmSync(repeated, { force: true });
  const code = await run(failed.map(({ name }) => name));
  if (!existsSync(repeated)) return 1;
  let stillFails = code !== 0;
  const second = new Map(read(repeated).testResults.map((file) => [file.name, file]));
  for (const file of failed) {
    const again = second.get(file.name);
    if (again === undefined) return 1;
    const failedFirst = testsOf(file, 'failed');
    const passedNow = new Set(testsOf(again, 'passed'));
    const flaky = failedFirst.filter((test) => passedNow.has(test));
    if (failedFirst.length === 0 && again.status === 'passed') flaky.push('the file itself');
    for (const test of flaky) console.log(`flaky: ${relative(root, file.name)} > ${test}`);
    // One that is skipped now has not passed.
    if (failedFirst.some((test) => !passedNow.has(test))) stillFails = true;
  }
  const testResults = first.testResults.map((file) => second.get(file.name) ?? file);
  writeFileSync(report, JSON.stringify({ ...first, testResults }));
  return stillFails ? 1 : 0;
}

process.exitCode = await repeatFailed();
