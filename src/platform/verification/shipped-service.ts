import { shippedLists } from './lists.ts';
import type { Resolver } from './resolver.ts';
import type { Verification } from './schema.ts';
import { verifyAddress } from './service.ts';

/** `verifyAddress` with the lists that are shipped, for other subjects. */
export function verifyByShippedLists(address: string, resolver: Resolver): Promise<Verification> {
  return verifyAddress(address, { resolver, lists: shippedLists() });
}
