// What other parts of the service may use of SMTP submission; everything else in this folder is its own.
export { type SmtpCounting, SmtpIn, type SmtpInDeps } from './server.ts';
