import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A sender domain in Postmark's field names (postmarkapp.com/developer/api/domains-api). */
export interface HostedDomain {
  ID: number;
  Name: string;
  SPFVerified: boolean;
  SPFHost: string;
  SPFTextValue: string;
  DKIMVerified: boolean;
  WeakDKIM: boolean;
  DKIMHost: string;
  DKIMTextValue: string;
  DKIMPendingHost: string;
  DKIMPendingTextValue: string;
  DKIMRevokedHost: string;
  DKIMRevokedTextValue: string;
  SafeToRemoveRevokedKeyFromDNS: boolean;
  DKIMUpdateStatus: 'Pending' | 'Verified' | 'Failed';
  ReturnPathDomain: string;
  ReturnPathDomainVerified: boolean;
  ReturnPathDomainCNAMEValue: string;
}

/** The sender domains of the sandbox. */
export interface Domains {
  /** Null when the name is taken. */
  create(name: string, returnPathDomain: string): HostedDomain | null;
  list(): readonly HostedDomain[];
  get(id: number): HostedDomain | undefined;
  /** Checks a record. Every domain passes, except `pending.…`, which stays as it is, and `failed.…`, which fails. */
  verify(id: number, what: 'dkim' | 'returnPath'): HostedDomain | undefined;
  remove(id: number): boolean;
}

/** Opens the list, from `domains.json` in the folder, or empty and in memory when the folder is null. */
export function openDomains(dataDir: string | null): Domains {
  const file = dataDir === null ? null : join(dataDir, 'domains.json');
  const state = (file && readState(file)) || { nextId: 1, domains: [] };

  function save(): void {
    if (!file || dataDir === null) return;
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  const get = (id: number) => state.domains.find((domain) => domain.ID === id);
  return {
    create(name, returnPathDomain) {
      const lower = name.toLowerCase();
      if (state.domains.some((domain) => domain.Name === lower)) return null;
      const domain = newDomain(state.nextId, lower, returnPathDomain.toLowerCase());
      state.nextId += 1;
      state.domains.push(domain);
      save();
      return domain;
    },
    list: () => state.domains,
    get,
    verify(id, what) {
      const domain = get(id);
      if (!domain || domain.Name.startsWith('pending.')) return domain;
      const passes = !domain.Name.startsWith('failed.');
      if (what === 'returnPath') domain.ReturnPathDomainVerified = passes;
      else if (!passes) domain.DKIMUpdateStatus = 'Failed';
      else if (!domain.DKIMVerified) {
        domain.DKIMVerified = true;
        domain.DKIMUpdateStatus = 'Verified';
        domain.DKIMHost = domain.DKIMPendingHost;
        domain.DKIMTextValue = domain.DKIMPendingTextValue;
        domain.DKIMPendingHost = '';
        domain.DKIMPendingTextValue = '';
      }
      save();
      return domain;
    },
    remove(id) {
      const index = state.domains.findIndex((domain) => domain.ID === id);
      if (index < 0) return false;
      state.domains.splice(index, 1);
      save();
      return true;
    },
  };
}

function newDomain(id: number, name: string, returnPathDomain: string): HostedDomain {
  const selector = `${new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)}pm`;
  return {
    ID: id,
    Name: name,
    SPFVerified: true,
    SPFHost: name,
    SPFTextValue: 'v=spf1 a mx include:spf.mtasv.net ~all',
    DKIMVerified: false,
    WeakDKIM: false,
    DKIMHost: '',
    DKIMTextValue: '',
    DKIMPendingHost: `${selector}._domainkey.${name}`,
    // As long as a 1024-bit key; nobody signs or verifies with it.
    DKIMPendingTextValue: `k=rsa; p=${randomBytes(162).toString('base64')}`,
    DKIMRevokedHost: '',
    DKIMRevokedTextValue: '',
    SafeToRemoveRevokedKeyFromDNS: false,
    DKIMUpdateStatus: 'Pending',
    ReturnPathDomain: returnPathDomain,
    ReturnPathDomainVerified: false,
    ReturnPathDomainCNAMEValue: 'pm.mtasv.net',
  };
}

function readState(file: string): { nextId: number; domains: HostedDomain[] } | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { nextId: number; domains: HostedDomain[] };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
