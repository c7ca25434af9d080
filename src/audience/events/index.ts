// What other parts of the service may use of events; everything else in this folder is its own.
export { countByName } from './counting-queries.ts';
export { campaignEvent, eventData, mailPayload, mailTags } from './mail-data.ts';
export { mostListedEventBytes } from './queries.ts';
