import { isMainThread } from 'node:worker_threads';

// Loaded before the main module of each process that `npm start` runs. The channel closes when the supervisor is gone, be it by SIGKILL:
// then this process ends as it does on SIGTERM, and at the latest after a while, for nobody would ever stop it otherwise.

const longestDrainMs = 10_000;

if (isMainThread && process.channel) {
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), longestDrainMs).unref();
    process.kill(process.pid, 'SIGTERM');
  });
  process.channel.unref();
  // Whoever read our output went with the supervisor; that must not end the draining.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
}
