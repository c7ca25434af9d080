// What other parts of the service may use of lists of contacts; everything else in this folder is its own.
export { checkedFilter, storedFilter } from './filter.ts';
export { FilterBody } from './schema.ts';
