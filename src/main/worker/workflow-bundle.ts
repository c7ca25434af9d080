import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** The code of every workflow as a worker takes it. */
export interface WorkflowBundle {
  code: string;
}

/** A bundle on disk: the code, and the SHA-256 of every file that went into it, by its path from the root. */
interface KeptBundle extends WorkflowBundle {
  inputs: Record<string, string>;
}

/**
 * The bundle of `workflows/`. `npm run build` keeps it in `dist/workflow-bundle.json`, and a worker takes that one as long as
 * every file that went into it is unchanged. Otherwise the bundler is loaded and run, which takes seconds, and its result
 * is kept for the next process where the folder can be written.
 */
export async function workflowBundle(root = projectRoot): Promise<WorkflowBundle> {
  const path = join(root, 'dist/workflow-bundle.json');
  const kept = await read(path);
  if (kept !== null && (await isCurrent(root, kept))) return { code: kept.code };
  const startedAt = Date.now();
  const { code, files } = await bundleWorkflows(root);
  const inputs = await fingerprints(root, files, startedAt);
  if (inputs !== null) await keep(path, { inputs, code }).catch(() => undefined);
  return { code };
}

async function read(path: string): Promise<KeptBundle | null> {
  try {
    const { code, inputs } = JSON.parse(await readFile(path, 'utf8')) as Partial<KeptBundle>;
    return code === undefined || inputs === undefined ? null : { code, inputs };
  } catch {
    return null;
  }
}

async function isCurrent(root: string, { inputs }: KeptBundle): Promise<boolean> {
  const unchanged = async ([file, hash]: [string, string]) => (await hashOf(join(root, file))) === hash;
  return (await Promise.all(Object.entries(inputs).map(unchanged))).every(Boolean);
}

/** Null when a file changed after `since`: nobody knows which of its contents went into the bundle. */
async function fingerprints(
  root: string,
  files: readonly string[],
  since: number,
): Promise<Record<string, string> | null> {
  const inputs: Record<string, string> = {};
  for (const file of files.toSorted()) {
    const found = await stat(file).catch(() => null);
    if (!found?.isFile()) continue;
    const hash = await hashOf(file);
    if (hash === null || found.mtimeMs >= since) return null;
    inputs[relative(root, file)] = hash;
  }
  return inputs;
}

async function hashOf(file: string): Promise<string | null> {
  try {
    return createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
  } catch {
    return null;
  }
}

async function keep(path: string, bundle: KeptBundle): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Processes that bundle at the same time must never read half a file.
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, JSON.stringify(bundle));
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/** A new bundle, and the absolute paths of all that it depends on (some of them folders or files that the bundler made up). */
interface NewBundle {
  code: string;
  files: string[];
}

const interceptors = fileURLToPath(new URL('../../../workflows/tracing.ts', import.meta.url));

/**
 * Bundles `workflows/index.ts` of `root` with whatever it imports. The list of files is the bundler's own, so it holds for
 * any import, with the packages that do the bundling, whose versions shape the result too.
 */
async function bundleWorkflows(root: string): Promise<NewBundle> {
  // Loaded only here: a worker has the SDK already, other programs do without it.
  const { bundleWorkflowCode } = await import('@temporalio/worker');
  const files = new Set(bundlers.map(manifestOf).filter((file) => file !== null));
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, 'workflows/index.ts'),
    workflowInterceptorModules: [interceptors],
    logger: quietLogger,
    webpackConfigHook: (config) => ({
      ...config,
      // Names of modules inside the bundle are relative to this, wherever the process was started.
      context: root,
      plugins: [
        ...(config.plugins ?? []),
        (compiler) =>
          compiler.hooks.done.tap('inputs', ({ compilation }) => {
            for (const file of compilation.fileDependencies) files.add(file);
          }),
      ],
    }),
  });
  return { code, files: [...files] };
}

const bundlers = ['@temporalio/worker', 'webpack', '@swc/core', 'swc-loader', 'source-map-loader'];

// Some of these packages do not export their package.json, so it is looked for above their main file.
function manifestOf(name: string): string | null {
  let folder = dirname(createRequire(import.meta.resolve('@temporalio/worker')).resolve(name));
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) return null;
    folder = dirname(folder);
  }
  return join(folder, 'package.json');
}

const quiet = () => undefined;
const report = (message: string) => console.error(message);
// A successful bundle is not news; what is wrong with a workflow's imports is.
const quietLogger = { trace: quiet, debug: quiet, info: quiet, log: quiet, warn: report, error: report };
