import { type JobOutcome, jobWork, runJob } from './job-run.ts';

/** Subscribes, unsubscribes or deletes many contacts; the job's row says where to go on. */
export async function bulkContacts({ jobId }: { jobId: string }): Promise<JobOutcome> {
  return runJob(jobId, (id) => jobWork.changeContactRows(id));
}
