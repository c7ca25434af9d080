import * as v from 'valibot';
import { route } from '../../http/route.ts';
import { field } from '../../lib/validation/fields.ts';
import { publicContact, setOwnSubscription } from './public-service.ts';
import { limitVisits } from './service.ts';

const LinkQuery = v.object({
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
const common = { access: 'none', ids: { id: 'contact' }, query: LinkQuery, exemptFromRateLimit: true } as const;

/** Routes for recipients, who see and change their own subscription without a key. */
export const publicContactRoutes = [
  route.get('/contacts/public/:id', {
    ...common,
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
      ...common,
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
