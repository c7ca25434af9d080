// What other parts of the service may use of recipients; everything else in this folder is its own.
export { removeOldVisits } from './visits.ts';
