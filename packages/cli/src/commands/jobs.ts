import { type Fernpost, FernpostError, type Item, type Reply } from '@fernpost/sdk';
import { Command, Option } from 'commander';
import { clientOf } from '../settings.ts';
import { confirm, print, table, UsageError } from '../terminal.ts';

type Job = Item<'listContactJobs'>;

interface UndoOptions {
  dryRun?: true;
  conflicts: 'keep' | 'restore';
  yes?: true;
}

/** `fernpost jobs list|undo`. */
export function jobCommands(): Command {
  return new Command('jobs')
    .description('imports and bulk changes of contacts')
    .addCommand(
      new Command('list')
        .description('newest first, with what each did and until when it can be undone')
        .action(async (_, command: Command) => {
          const { data } = await clientOf(command).jobs.list({ limit: 50 });
          const rows = data.map((job) => [job.id, job.createdAt, job.operation, job.state, undoOf(job)]);
          print(command, data, rows.length === 0 ? 'No jobs yet.' : table(rows));
        }),
    )
    .addCommand(
      new Command('undo')
        .description('undo an import or a bulk change, except what has changed since')
        .argument('<id>')
        .option('--dry-run', 'show what it would do; changes nothing')
        .addOption(
          new Option('--conflicts <how>', 'fields that were changed since')
            .choices(['keep', 'restore'])
            .default('keep'),
        )
        .option('--yes', 'do not ask')
        .action(undo),
    );
}

function undoOf({ undoneBy, undoUntil }: Job): string {
  if (undoneBy !== null) return `undone by ${undoneBy}`;
  return undoUntil === null ? '' : `can be undone until ${undoUntil}`;
}

async function undo(jobId: string, { dryRun, conflicts, yes }: UndoOptions, command: Command): Promise<void> {
  const client = clientOf(command);
  const job = await jobOf(client, jobId);
  const asked = (body: { dryRun?: boolean }) =>
    untilCounted<Reply<'undoImport' | 'undoBulkJob'>>(() =>
      job.kind === 'import'
        ? client.jobs.undoImport(jobId, { ...body, conflicts })
        : client.jobs.undo(jobId, { ...body, conflicts }),
    );
  const plan = await asked({ dryRun: true });
  const rows = [
    ['-', plan.deletes, 'contacts are deleted'],
    ['~', plan.restores, 'contacts are restored'],
    ...plan.conflicts.map(({ key, count }) => ['!', count, `"${key}" was changed since`]),
    ...plan.keeps.map(({ reason, count }) => ['=', count, `stay: ${reason}`]),
  ];
  if (dryRun) return print(command, plan, table(rows));
  if (!yes) {
    console.error(table(rows));
    await confirm(`Undo the ${job.operation} of ${job.createdAt}?`);
  }
  const { jobId: undoId } = await asked({});
  if (undoId === null) throw new Error('The service started no job.');
  const done = await ended(client, undoId);
  print(command, done, `Undone: ${done.result?.successCount ?? 0} contacts, ${done.result?.failureCount ?? 0} failed.`);
}

// Counting what the undo of millions of contacts would do takes several requests, each of which goes on from the one before.
async function untilCounted<T>(ask: () => PromiseLike<T>): Promise<T> {
  for (;;)
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof FernpostError && error.code === 'PREVIEW_UNFINISHED')) throw error;
    }
}

async function jobOf(client: Fernpost, id: string): Promise<Job> {
  for await (const job of client.jobs.list({ limit: 100 })) if (job.id === id) return job;
  throw new UsageError(`No import or bulk change has the id ${id}: "fernpost jobs list" names them.`);
}

async function ended(client: Fernpost, jobId: string) {
  const job = await client.jobs.wait(jobId, { everyMs: 500 });
  if (job.state === 'failed') throw new Error(`The undo failed: ${job.failedReason ?? 'no reason was recorded'}.`);
  return job;
}
