import * as v from 'valibot';
import type { Handled } from '../../http/context.ts';
import { type Reply, reply, route } from '../../http/route.ts';
import { AppError } from '../../lib/errors.ts';
import { pageHtml, pagePolicy, type RecipientPage } from '../../lib/texts/page-html.ts';
import type { PageName } from '../../lib/texts/pages.ts';
import { field } from '../../lib/validation/fields.ts';
import { leaveQuietly, publicContact, setOwnSubscription } from './public-service.ts';
import {
  limitVisits,
  openPage,
  type PageAnswer,
  pageElsewhere,
  type RecipientPageRequest,
  submitPage,
  troublePage,
} from './service.ts';

// Whatever else a link has come to carry must not keep a recipient from their page.
const parameter = v.fallback(v.optional(v.string()), undefined);
const LinkQuery = v.object({
  e: field('ID of the email that the link is in, as the link carries it. The change is attributed to it.', parameter),
  t: field('Signature of the link, as the link carries it.', parameter),
});
type Visit = Handled<v.InferOutput<typeof LinkQuery>, unknown, 'none', { id: string }>;

const common = { access: 'none', query: LinkQuery, exemptFromRateLimit: true, tag: 'recipients' } as const;

const pages: Record<PageName, { summary: string; returns: string }> = {
  unsubscribe: {
    summary: 'Page on which a recipient unsubscribes',
    returns: 'The page, which asks for a confirmation or says that the recipient is unsubscribed.',
  },
  subscribe: {
    summary: 'Page on which a recipient subscribes again',
    returns: 'The page, which asks for a confirmation or says that the recipient is subscribed.',
  },
  manage: {
    summary: 'Page of a recipient’s preferences',
    returns: 'The page, which shows the subscription and has a button to change it.',
  },
};

/** The pages of recipients and the one-click unsubscribe of mail clients: no key, no cookie, no script. */
export const recipientRoutes = [
  ...(['unsubscribe', 'subscribe', 'manage'] as const).map((name) =>
    route.get(`/${name}/:id`, {
      ...common,
      ...pages[name],
      operationId: `open${name[0]?.toUpperCase()}${name.slice(1)}Page`,
      description: 'HTML; changes nothing. An invalid link gets a page with status 404.',
      textReply: 'text/html',
      handle: (visit) =>
        served(visit, async () => {
          const request = requestOf(visit, name);
          const elsewhere = pageElsewhere(visit.header('host'), request, visit.app.config);
          if (elsewhere !== null) return reply(302, '', { Location: elsewhere, 'Cache-Control': 'no-store' });
          await limitVisits(visit.db, visit.ip, visit.app.config);
          return answered(await openPage(visit.db, request, visit.app.config));
        }),
    }),
  ),
  route.post('/manage/:id', {
    ...common,
    summary: 'Submit the form of the recipient pages',
    operationId: 'submitPreferences',
    bodyForm: {
      type: 'application/x-www-form-urlencoded',
      fields: {
        action: {
          type: 'string',
          enum: ['subscribe', 'unsubscribe'],
          description: 'Whether the recipient subscribes or unsubscribes.',
        },
      },
    },
    description: 'Form fields: `action` (subscribe, unsubscribe) and `page`, the page with the form.',
    bodyKind: 'form',
    bodyLimit: 'recipientForm',
    status: 303,
    returns: {
      200: 'The page that says that the recipient is unsubscribed, for a link without a valid `t`.',
      303: 'Redirects to the recipient’s page, which shows the new subscription.',
    },
    textReply: 'text/html',
    handle: (visit) =>
      served(visit, async () => {
        await limitVisits(visit.db, visit.ip, visit.app.config);
        const { action, page } = visit.body as Record<string, unknown>;
        if (action !== 'subscribe' && action !== 'unsubscribe')
          return html(422, troublePage(visit.header('accept-language'), false));
        const name = page === 'unsubscribe' || page === 'subscribe' ? page : 'manage';
        return answered(await submitPage(visit.db, requestOf(visit, name), action, visit.app.config));
      }),
  }),
  route.post('/unsubscribe/:id', {
    ...common,
    summary: 'One-click unsubscribe (RFC 8058)',
    operationId: 'unsubscribeInOneClick',
    description: 'The target of `List-Unsubscribe`. Every body and every ID get the same answer.',
    returns: 'The text `Unsubscribed`, whether or not the ID belongs to a contact.',
    textReply: 'text/plain',
    async handle({ db, params, query }) {
      await leaveQuietly(db, params.id, query);
      return reply(200, 'Unsubscribed', { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' });
    },
  }),
];

function requestOf({ params, query, header }: Visit, name: PageName): RecipientPageRequest {
  return { name, contactId: params.id, link: query, accepts: header('accept-language') };
}

// A person is looking: what goes wrong is said on a page, and in the log.
async function served(visit: Visit, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    const known = error instanceof AppError ? error : null;
    if (known === null) visit.log.error({ err: error, requestId: visit.requestId }, 'a page of a recipient failed');
    const page = troublePage(visit.header('accept-language'), known?.status === 429);
    return html(known?.status ?? 503, page, known?.extra.headers ?? { 'Retry-After': '60' });
  }
}

function answered(answer: PageAnswer): Reply {
  if ('goTo' in answer) return reply(303, '', { Location: answer.goTo, 'Cache-Control': 'no-store' });
  return html(answer.status, answer.page);
}

function html(status: number, page: RecipientPage, headers: Record<string, string> = {}): Reply {
  return reply(status, pageHtml(page), {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': page.language,
    'Content-Security-Policy': pagePolicy(page),
    'Cache-Control': 'no-store',
    'X-Robots-Tag': 'noindex, nofollow',
    ...headers,
  });
}

const SignedLink = v.object({
  e: field(
    'ID of the email that the link is in, as the link carries it. The change is attributed to it.',
    v.optional(v.string()),
  ),
  t: field('Signature of the link, as the link carries it.', v.optional(v.string())),
});
const OwnSubscription = v.object({
  id: field('ID of the contact.', v.string()),
  email: field('Address of the contact; masked without a valid signature `t`.', v.string()),
  subscribed: field('Whether the contact is subscribed to marketing emails.', v.boolean()),
});
const ofOwnSubscription = {
  access: 'none',
  ids: { id: 'contact' },
  query: SignedLink,
  exemptFromRateLimit: true,
} as const;

/** Routes for recipients, who see and change their own subscription without a key. */
export const publicContactRoutes = [
  route.get('/contacts/public/:id', {
    ...ofOwnSubscription,
    refusals: [404],
    summary: 'Get a recipient’s own subscription',
    operationId: 'getOwnSubscription',
    description:
      '`t` is the signature in the links of emails; without it the address is masked. 60 requests a minute per client address.',
    returns: 'The recipient’s subscription and the language of their pages; `email` is masked without a valid `t`.',
    reply: v.object({
      ...OwnSubscription.entries,
      language: field('Language of the recipient pages, such as `en`.', v.string()),
    }),
    async handle({ app, db, params, query, ip }) {
      await limitVisits(db, ip, app.config);
      return publicContact(db, params.id, query, app.config);
    },
  }),
  ...([true, false] as const).map((subscribed) =>
    route.post(`/contacts/public/:id/${subscribed ? 'subscribe' : 'unsubscribe'}`, {
      ...ofOwnSubscription,
      summary: subscribed ? 'Subscribe a recipient again' : 'Unsubscribe a recipient',
      operationId: subscribed ? 'subscribeOwnAddress' : 'unsubscribeOwnAddress',
      description: subscribed
        ? 'Needs the signature `t` of a link from a mail; `e` names the mail.'
        : 'Needs no signature; `e` names the mail it came from.',
      returns: subscribed
        ? 'The recipient, who is subscribed now.'
        : 'The recipient, who is unsubscribed now; `email` is masked without a valid `t`.',
      reply: OwnSubscription,
      async handle({ app, db, params, query, ip }) {
        await limitVisits(db, ip, app.config);
        return setOwnSubscription(db, params.id, subscribed, query, app.config);
      },
    }),
  ),
];
