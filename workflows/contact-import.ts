import { type JobOutcome, jobWork, runJob } from './job-run.ts';

/** Imports the rows of a CSV file, whatever dies in between: the job's row says where to go on. */
export async function importContacts({ jobId }: { jobId: string }): Promise<JobOutcome> {
  return runJob(jobId, (id) => jobWork.importContactRows(id));
}
