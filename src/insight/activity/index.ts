// What other parts of the service may use of activity; everything else in this folder is its own.
export { positiveInteger } from './schema.ts';
export { percent } from './stats.ts';
