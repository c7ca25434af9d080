// What other parts of the service may use of usage; everything else in this folder is its own.
export { automationsUsingEvent, automationsUsingField, automationsUsingSegment } from './automations-queries.ts';
export { campaignsMentioning, segmentsAsking, segmentsMentioning, type Use } from './conditions-queries.ts';
