// What other parts of the service may use of reports; everything else in this folder is its own.
export { removeOldReceipts } from './notify.ts';
