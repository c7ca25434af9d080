import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { TestContext } from 'vitest';

const nobodyAnswers =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|getaddrinfo|No matching distribution|name resolution|dial tcp|connection refused|i\/o timeout|Network is unreachable/i;

/**
 * Fetches a tool from its registry, which only such tests do: without a registry that answers the test is skipped and says so; whatever
 * else goes wrong is a failure.
 */
export async function fetched(
  context: TestContext,
  program: string,
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<void> {
  try {
    await promisify(execFile)(program, args, { ...options, maxBuffer: 2 ** 26 });
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    const output = `${message}\n${stdout}\n${stderr}`;
    if (nobodyAnswers.test(output)) {
      console.warn(`Not tested, because its registry does not answer: ${program} ${args.join(' ')}`);
      context.skip('the registry does not answer');
    }
    throw new Error(output, { cause: error });
  }
}
