import type { Fernpost } from '@fernpost/sdk';
import { UsageError } from './errors.ts';

/** The ID of a contact who is named by address or by ID. @throws UsageError for an address that no contact has */
export async function contactIdOf(client: Fernpost, contact: string): Promise<string> {
  if (!contact.includes('@')) return contact;
  const wanted = contact.trim().toLowerCase();
  for await (const { id, email } of client.contacts.list({ search: wanted, limit: 100 }))
    if (email === wanted) return id;
  throw new UsageError(`No contact has the address ${contact}.`);
}
