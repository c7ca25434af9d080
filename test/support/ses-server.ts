import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as Amazon SES gets it. */
interface SesMessage {
  from: string;
  to: string[];
  mime: string;
  configurationSet: string | undefined;
  tags: Record<string, string>;
}

/** Every call: method and path, whether or not it was a message. */
interface SesCall {
  method: string;
  path: string;
  body: Record<string, unknown>;
}

/** What a test may do to a call instead of the usual answer: answer by itself, or return nothing to let it be taken. */
type SesFault = (response: ServerResponse, message: SesMessage) => 'handled' | 'drop' | undefined;

/** An HTTP server that speaks as much of the API of Amazon SES, version 2, as the service uses. */
export interface SesServer {
  url: string;
  /** Messages that were taken, whether or not the answer arrived. */
  taken: SesMessage[];
  calls: SesCall[];
  /** Answer of `GET /v2/email/account`; null refuses it. */
  maxSendRate: number | null;
  fault: SesFault;
  identities: Map<string, { dkim: string; mailFrom: string }>;
  close(): Promise<void>;
}

/** An error as the API of Amazon writes it. */
export function sesError(response: ServerResponse, status: number, name: string, message: string): 'handled' {
  response.writeHead(status, { 'Content-Type': 'application/json', 'x-amzn-ErrorType': name });
  response.end(JSON.stringify({ message }));
  return 'handled';
}

/** Starts the server on a free port. */
export async function sesServer(): Promise<SesServer> {
  const ses: SesServer = {
    url: '',
    taken: [],
    calls: [],
    maxSendRate: 10_000,
    fault: () => undefined,
    identities: new Map(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((request, response) => {
    void readBody(request).then((text) => {
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      const path = decodeURIComponent(new URL(request.url ?? '/', 'http://ses.test').pathname);
      ses.calls.push({ method: request.method ?? '', path, body });
      answer(ses, request.method ?? '', path, body, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ses.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return ses;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function answer(ses: SesServer, method: string, path: string, body: Record<string, unknown>, response: ServerResponse) {
  const json = (value: object) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
  if (method === 'GET' && path === '/v2/email/account') {
    if (ses.maxSendRate === null) return sesError(response, 403, 'AccessDeniedException', 'not authorized');
    return json({ SendQuota: { Max24HourSend: 50_000, MaxSendRate: ses.maxSendRate, SentLast24Hours: 0 } });
  }
  if (path.startsWith('/v2/email/identities')) return identity(ses, method, path, body, response, json);
  if (method !== 'POST' || path !== '/v2/email/outbound-emails')
    return sesError(response, 404, 'UnknownOperation', path);
  const message = messageOf(body);
  const end = ses.fault(response, message);
  if (end === 'handled') return undefined;
  ses.taken.push(message);
  if (end === 'drop') return response.socket?.destroy();
  return json({ MessageId: `0102-${message.tags.eid}` });
}

function messageOf(body: Record<string, unknown>): SesMessage {
  const { Content, Destination, EmailTags, ConfigurationSetName, FromEmailAddress } = body as {
    Content: { Raw: { Data: string } };
    Destination: { ToAddresses: string[] };
    EmailTags: { Name: string; Value: string }[];
    ConfigurationSetName?: string;
    FromEmailAddress: string;
  };
  return {
    from: FromEmailAddress,
    to: Destination.ToAddresses,
    mime: Buffer.from(Content.Raw.Data, 'base64').toString('utf8'),
    configurationSet: ConfigurationSetName,
    tags: Object.fromEntries(EmailTags.map(({ Name, Value }) => [Name, Value])),
  };
}

function identity(
  ses: SesServer,
  method: string,
  path: string,
  body: Record<string, unknown>,
  response: ServerResponse,
  json: (value: object) => unknown,
) {
  const name = path.split('/')[4] ?? String(body.EmailIdentity);
  const known = ses.identities.get(name);
  if (method === 'POST' && known !== undefined) return sesError(response, 400, 'AlreadyExistsException', 'exists');
  if (method === 'POST') {
    ses.identities.set(name, { dkim: 'PENDING', mailFrom: 'PENDING' });
    return json({ IdentityType: 'DOMAIN', VerifiedForSendingStatus: false });
  }
  if (known === undefined) return sesError(response, 404, 'NotFoundException', 'no such identity');
  if (method === 'DELETE') ses.identities.delete(name);
  if (method !== 'GET') return json({});
  return json({
    IdentityType: 'DOMAIN',
    VerifiedForSendingStatus: known.dkim === 'SUCCESS',
    DkimAttributes: { SigningEnabled: true, Status: known.dkim, Tokens: ['aaa', 'bbb', 'ccc'] },
    MailFromAttributes: { MailFromDomain: `m.${name}`, MailFromDomainStatus: known.mailFrom },
  });
}
