// The modules that load Amazon's SDK: a process that uses another provider should not carry it.
export { createSesMailer, type SesAccess, type SesOptions } from './ses.ts';
export { createSesDomains } from './ses-domains.ts';
