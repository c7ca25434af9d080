import { reasonOf } from '../terminal.ts';

// Run as a program: `node temporal-downloader.ts <folder> <version>`. Starting a server is the only way in which the SDK downloads one.

const [folder, version] = process.argv.slice(2);
if (folder === undefined || version === undefined) throw new Error('usage: temporal-downloader.ts <folder> <version>');
try {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir: folder, version } },
  });
  await environment.teardown();
} catch (error) {
  const missing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  console.error(missing ? 'the npm package @temporalio/testing is not installed' : reasonOf(error));
  process.exitCode = 1;
}
