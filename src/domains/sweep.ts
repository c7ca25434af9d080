import pLimit from 'p-limit';
import { type CheckDeps, checkTaken } from './checks.ts';
import { removalDone, takeDomain, takeDueDomains, takeRemovals } from './queries.ts';

/** The result of a page of the schedule. */
export interface DomainPage {
  checked: number;
  /** Domains that could not be asked about; they come again with the next round. */
  failed: number;
  /** Whether more may be due. */
  more: boolean;
  /** Domains for whose records the provider has stopped looking. */
  stopped: string[];
}

const pageSize = 100;
const atOnce = 10;

/** Checks a page of the domains whose check is due. Safe to repeat: what was taken is not due any more. */
export async function checkDueDomains(deps: CheckDeps, alive: () => void): Promise<DomainPage> {
  const due = await takeDueDomains(deps.db, pageSize);
  const page: DomainPage = { checked: 0, failed: 0, more: due.length === pageSize, stopped: [] };
  await pLimit(atOnce).map(due, async (domain) => {
    try {
      const { stopped } = await checkTaken(deps, domain, true);
      page.checked += 1;
      if (stopped) page.stopped.push(domain.id);
    } catch (error) {
      page.failed += 1;
      deps.log.warn({ err: (error as Error).message, domainId: domain.id }, 'a domain could not be checked');
    }
    alive();
  });
  return page;
}

/** Asks the provider to look for a domain's records again. Rejects while it has not begun. */
export async function restartDomain(deps: CheckDeps, id: string): Promise<void> {
  const domain = await takeDomain(deps.db, id, 0);
  if (domain === null || domain.wasVerified) return;
  const { stopped } = await checkTaken(deps, domain, true);
  if (stopped) throw new Error('The mail provider still does not look for the records of this domain');
}

/** Removes at the provider what was removed here and could not be then. Answers how many. */
export async function removeLeftovers(deps: Pick<CheckDeps, 'db' | 'provider' | 'log'>): Promise<number> {
  const { db, provider, log } = deps;
  if (provider === null) return 0;
  let removed = 0;
  for (const providerId of await takeRemovals(db, pageSize)) {
    try {
      await provider.remove(providerId);
      await removalDone(db, providerId);
      removed += 1;
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'a removed domain is still registered with the mail provider');
    }
  }
  return removed;
}
