// What other parts of the service may use of system-mail; everything else in this folder is its own.
export { recoverableMails, type SystemMailDeps, type SystemMailReport, sendSystemMail } from './sending.ts';
