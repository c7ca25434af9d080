// What other parts of the service may use of erasures; everything else in this folder is its own.
export { type CertificateReport, certify, type Retentions } from './certificate.ts';
export { addressesOf, noteProvider } from './service.ts';
export { type ErasureState, eraseRows, recoverableErasures } from './work.ts';
