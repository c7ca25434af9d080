import { useQuery } from '@tanstack/react-query';
import { useProjectId } from '../../app/address.ts';
import { domainsOf, maySend } from '../domains/domain.ts';
import { emptyContent, type MailContent } from './content.ts';

/** The domains that mail of the project may be sent from; undefined until they are known, none where they cannot be. */
export function useSenderDomains(): readonly string[] | undefined {
  const project = useProjectId();
  const { data, isPending } = useQuery(domainsOf(project));
  if (isPending) return undefined;
  return (data ?? []).filter(maySend).map(({ domain }) => domain);
}

/** A message that is not written yet, from an address at one of these domains. */
export function newMessage(domains: readonly string[] = []): { content: MailContent; revision: null } {
  return { content: { ...emptyContent, from: usualSender(domains) }, revision: null };
}

/** The address that a new email is sent from, by the domains of the project; empty where there is none. */
export function usualSender(domains: readonly string[]): string {
  return domains[0] === undefined ? '' : `hello@${domains[0]}`;
}
