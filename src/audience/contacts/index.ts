// What other parts of the service may use of contacts; everything else in this folder is its own.
export { contactTotals, foldContactChanges, hasUnfolded } from './catalogue-queries.ts';
export type { Cause } from './cause.ts';
export { Contact } from './entity.ts';
export { listFields } from './fields-service.ts';
export { leftBefore } from './flip-queries.ts';
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
export { contactBody, contactColumns, contactsWithin, type ListedContact } from './queries.ts';
export { ContactBody, ContactPage } from './schema.ts';
export { type ContactListRequest, contactPage, getContact } from './service.ts';
export { bringBack, contactsAndTrash, emptyTrash, trashContacts, trashDays } from './trash-queries.ts';
export {
  type ContactRow,
  type ContactWrite,
  type ContactWriting,
  causeText,
  contactsWritten,
  upsertContactRow,
  type WrittenCounts,
  writeContact,
  writeContacts,
  writingAs,
} from './write.ts';
