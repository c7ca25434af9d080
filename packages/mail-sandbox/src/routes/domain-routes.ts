import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import * as v from 'valibot';
import type { HostedDomain } from '../domains.ts';
import { DomainSchema, issueText } from '../schema.ts';
import { BodyError, readJson } from './body.ts';
import type { Parts } from './parts.ts';
import { postmarkError } from './sending-routes.ts';

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
