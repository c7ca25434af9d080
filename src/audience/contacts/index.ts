// What other parts of the service may use of contacts; everything else in this folder is its own.
export { contactTotals, foldContactChanges, hasUnfolded } from './catalogue-queries.ts';
export { because, type Cause, causeText, writingMany } from './cause.ts';
export { Contact } from './entity.ts';
export { listFields } from './fields-service.ts';
export { flipEvents, leftBefore, limitedByJob } from './flip-queries.ts';
export { groupedContactCtes } from './grouped-queries.ts';
export { namesOfAuthors, removeOldHistory } from './history-queries.ts';
export { ChangeAuthor } from './history-schema.ts';
export { authorOf, getContactAt } from './history-service.ts';
export {
  ContactDataError,
  contactDataError,
  contactDataText,
  mostContactBytes,
  withinDataLimits,
} from './limit-queries.ts';
export { type ContactFilter, contactSorts, countContacts, matchesNobody, matching } from './list-queries.ts';
export {
  type ContactWrite,
  changeContact,
  contactBody,
  contactColumns,
  contactsWithin,
  type ListedContact,
  untilSeen,
  upsertContactCtes,
  upsertContactRow,
  upsertFlips,
} from './queries.ts';
export { ContactBody, ContactPage } from './schema.ts';
export { type ContactListRequest, contactPage, getContact } from './service.ts';
export { bringBack, contactsAndTrash, emptyTrash, movingToTrash, trashContacts, trashDays } from './trash-queries.ts';
