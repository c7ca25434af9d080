import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const root = fileURLToPath(new URL('../..', import.meta.url));
const workflowsFolder = join(root, 'workflows');
const cacheFolder = join(root, '.cache/workflows');
const keptForMs = 86_400_000;

/** The code of every workflow as a worker takes it. */
export interface WorkflowBundle {
  code: string;
}

/**
 * Bundles `workflows/`. That takes seconds, so the result is kept in `.cache/workflows` under a hash of everything that
 * goes into it; where that folder cannot be written the work is done each time.
 */
export async function workflowBundle(): Promise<WorkflowBundle> {
  const path = join(cacheFolder, `${await fingerprint()}.js`);
  try {
    return { code: await readFile(path, 'utf8') };
  } catch {
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(workflowsFolder, 'index.ts'),
      logger: quietLogger,
    });
    await keep(path, code).catch(() => undefined);
    return { code };
  }
}

// Workflows import only one another, temporal/commands.ts and the SDK (test/unit/architecture.test.ts holds them to it).
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const files = (await readdir(workflowsFolder, { recursive: true })).filter((name) => name.endsWith('.ts')).sort();
  for (const file of files) hash.update(`${file}\0`).update(await readFile(join(workflowsFolder, file)));
  hash.update(await readFile(join(root, 'temporal/commands.ts')));
  for (const name of ['workflow', 'worker', 'common'])
    hash.update(await readFile(join(root, `node_modules/@temporalio/${name}/package.json`)));
  return hash.digest('hex').slice(0, 32);
}

async function keep(path: string, code: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Processes that bundle side by side must never read half a file.
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  await writeFile(draft, code);
  await rename(draft, path);
  for (const name of await readdir(cacheFolder)) {
    const other = join(cacheFolder, name);
    if (other !== path && Date.now() - (await stat(other)).mtimeMs > keptForMs) await rm(other, { force: true });
  }
}

const quiet = () => undefined;
const report = (message: string) => console.error(message);
// A successful bundle is not news; what is wrong with a workflow's imports is.
const quietLogger = { trace: quiet, debug: quiet, info: quiet, log: quiet, warn: report, error: report };
