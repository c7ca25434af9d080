import { createInterface } from 'node:readline/promises';
import { UsageError } from './errors.ts';

/** Asks before something that cannot be taken back. @throws UsageError for "no", and where nobody can be asked */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError(`${question} This needs a confirmation: add --yes.`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${question} [y/N] `);
  lines.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('Nothing was changed.');
}
