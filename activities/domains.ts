import { heartbeat } from '@temporalio/activity';
import {
  type CheckDeps,
  checkDueDomains,
  type DomainPage,
  removeLeftovers,
  restartDomain,
} from '../src/platform/domains/index.ts';

/** The activities of sender domains, as workflows call them. */
export type DomainActivities = ReturnType<typeof domainActivities>;

/** Builds the activities that look after sender domains. Safe to repeat. */
export function domainActivities(deps: CheckDeps) {
  return {
    /** Checks a page of the domains whose check is due. */
    checkDomainsPage: (): Promise<DomainPage> => checkDueDomains(deps, heartbeat),

    /** Asks the provider to look for a domain's records again; rejects while it does not. */
    restartDomainCheck: (id: string): Promise<void> => restartDomain(deps, id),

    /** Removes at the provider what was deleted here while it could not be asked. Answers how many. */
    removeDomainLeftovers: (): Promise<number> => removeLeftovers(deps),
  };
}
