// What other parts of the service may use of SMTP submission; everything else in this folder is its own.
export { createSmtpIn, type SmtpCounting, type SmtpIn, type SmtpInDeps } from './server.ts';
