import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthEndpoints } from '../../src/accounts/oauth.ts';

/** A provider of sign-in on this machine: it keeps the rules of OAuth 2.0 with PKCE and says who the user is. */
export interface OAuthServer extends AsyncDisposable {
  endpoints: OAuthEndpoints;
  /** What the provider says of the user who signs in next, in its own form. */
  identity: unknown;
  /** Answers requests for tokens with 500 while true. */
  broken: boolean;
  /** Does what a user does at the provider: follows the link and agrees. Answers where the browser is sent. */
  agree(authorizationUrl: string): Promise<string>;
}

/** Starts a provider that knows one client. */
export async function oauthServer(client: { id: string; secret: string }): Promise<OAuthServer> {
  const codes = new Map<string, { challenge: string; redirectUri: string }>();
  const tokens = new Set<string>();
  const state = { identity: null as unknown, broken: false };
  const server: Server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/authorize') {
      const asked = Object.fromEntries(url.searchParams);
      if (asked.client_id !== client.id || asked.code_challenge_method !== 'S256') return answer(400, asked);
      const code = randomUUID();
      codes.set(code, { challenge: asked.code_challenge ?? '', redirectUri: asked.redirect_uri ?? '' });
      const back = new URL(asked.redirect_uri ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', asked.state ?? '');
      return response.writeHead(302, { Location: back.href }).end();
    }
    if (url.pathname === '/token') {
      if (state.broken) return answer(500, {});
      const form = new URLSearchParams(await text(request));
      const basic = Buffer.from(`${client.id}:${client.secret}`).toString('base64');
      const known = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (request.headers.authorization !== `Basic ${basic}`) return answer(401, { error: 'invalid_client' });
      if (known?.challenge !== challenge || known.redirectUri !== form.get('redirect_uri'))
        return answer(400, { error: 'invalid_grant' });
      const token = randomUUID();
      tokens.add(token);
      return answer(200, { access_token: token, token_type: 'bearer' });
    }
    if (!tokens.has((request.headers.authorization ?? '').replace('Bearer ', ''))) return answer(401, {});
    return answer(200, state.identity);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(state, {
    endpoints: { authorize: `${base}/authorize`, token: `${base}/token`, identity: `${base}/identity` },
    async agree(authorizationUrl: string) {
      const answer = await fetch(authorizationUrl, { redirect: 'manual' });
      return answer.headers.get('location') ?? '';
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
