// What other parts of the service may use of jobs; everything else in this folder is its own.
export { changeContacts } from './bulk.ts';
export { removeLostParts } from './files-queries.ts';
export { importRows } from './import.ts';
export { findJob, finishJob, markDelayed, removeOldJobs } from './queries.ts';
export { recoverableJobs } from './service.ts';
export { type Share, type ShareReport, shareReportOf } from './share.ts';
