import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import * as v from 'valibot';
import { BodyError, type Parts, readJson } from './routes/requests.ts';
import { postmarkError } from './routes/sending-routes.ts';
import { DomainSchema, issueText } from './schema.ts';

/** A sender domain in Postmark's field names (postmarkapp.com/developer/api/domains-api). */
interface HostedDomain {
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

const bodyLimit = 64 * 1024;
const domainName = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Postmark's calls for sender domains; any `X-Postmark-Account-Token` is good. */
export function providerDomainRoutes({ domains }: Parts): Router {
  const router = new Router({ prefix: '/domains' });
  router.use(needsAccountToken);
  router.get('/', (ctx) => {
    const count = Number(ctx.query.count ?? 500);
    const offset = Number(ctx.query.offset ?? 0);
    if (!Number.isInteger(count) || count < 1 || count > 500 || !Number.isInteger(offset) || offset < 0) {
      return postmarkError(ctx, 422, 511, "'count' must be between 1 and 500 and 'offset' not negative.");
    }
    const all = domains.list();
    ctx.body = { TotalCount: all.length, Domains: all.slice(offset, offset + count).map(brief) };
  });
  router.post('/', async (ctx) => {
    const parsed = v.safeParse(DomainSchema, await jsonOf(ctx));
    if (!parsed.success) return postmarkError(ctx, 422, 511, issueText(parsed.issues));
    const { Name, ReturnPathDomain } = parsed.output;
    if (!domainName.test(Name)) return postmarkError(ctx, 422, 511, `'${Name.slice(0, 253)}' is not a domain name.`);
    if (ReturnPathDomain && !ReturnPathDomain.toLowerCase().endsWith(`.${Name.toLowerCase()}`)) {
      return postmarkError(ctx, 422, 511, 'The Return-Path domain must be below the domain itself.');
    }
    const domain = domains.create(Name, ReturnPathDomain ?? '');
    if (!domain) return postmarkError(ctx, 422, 512, 'This domain already exists.');
    ctx.body = domain;
  });
  router.get('/:id', (ctx) => reply(ctx, domains.get(Number(ctx.params.id))));
  router.put('/:id/verifyDkim', (ctx) => reply(ctx, domains.verify(Number(ctx.params.id), 'dkim')));
  router.put('/:id/verifyReturnPath', (ctx) => reply(ctx, domains.verify(Number(ctx.params.id), 'returnPath')));
  router.delete('/:id', (ctx) => {
    const id = Number(ctx.params.id);
    const name = domains.get(id)?.Name ?? '';
    if (!domains.remove(id)) return reply(ctx, undefined);
    ctx.body = { ErrorCode: 0, Message: `Domain ${name} removed.` };
  });
  return router;
}

const needsAccountToken: Middleware = (ctx, next) => {
  if (ctx.get('X-Postmark-Account-Token').trim() !== '') return next();
  postmarkError(ctx, 401, 10, 'Request does not contain a valid Account token.');
};

async function jsonOf(ctx: Context): Promise<unknown> {
  try {
    return await readJson(ctx, bodyLimit);
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
}

function reply(ctx: Context, domain: HostedDomain | undefined): void {
  if (domain) ctx.body = domain;
  else postmarkError(ctx, 404, 510, 'This domain was not found.');
}

function brief({ ID, Name, SPFVerified, DKIMVerified, WeakDKIM, ReturnPathDomainVerified }: HostedDomain) {
  return { ID, Name, SPFVerified, DKIMVerified, WeakDKIM, ReturnPathDomainVerified };
}
