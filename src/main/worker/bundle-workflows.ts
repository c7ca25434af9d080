import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

/** A new bundle, and the absolute paths of all that it depends on (some of them folders or files that the bundler made up). */
export interface NewBundle {
  code: string;
  files: string[];
}

/**
 * Bundles `workflows/index.ts` of `root` with whatever it imports. The list of files is the bundler's own, so it holds for
 * any import, with the packages that do the bundling, whose versions shape the result too.
 */
export async function bundleWorkflows(root: string): Promise<NewBundle> {
  const files = new Set(bundlers.map(manifestOf).filter((file) => file !== null));
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, 'workflows/index.ts'),
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
const worker = createRequire(import.meta.resolve('@temporalio/worker'));

// Some of these packages do not export their package.json, so it is looked for above their main file.
function manifestOf(name: string): string | null {
  let folder = dirname(worker.resolve(name));
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
