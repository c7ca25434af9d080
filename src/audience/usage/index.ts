// What other parts of the service may use of usage; everything else in this folder is its own.
export { automationsUsingSegment, refuseInUse, usesOfEvent, usesOfField } from './queries.ts';
