import { csvReply, inProject, route } from '../../http/route.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { ids, ok, wrapped } from '../record.ts';
import { listRecipients, recipientsCsv } from './recipients.ts';
import { CampaignResults, campaignResults } from './results.ts';
import { ListRecipients, RecipientsPage } from './schema.ts';

/** Who got a campaign, who did not, and why. */
export const campaignRecipientRoutes = [
  route.get('/campaigns/:id/results', {
    heavy: true,
    ...inProject('campaigns:read'),
    summary: 'Get the results of a campaign by hour and by link',
    description: 'Of the current send, with the rates of the five campaigns that were sent before it.',
    ids,
    returns: 'The results of the current send by hour and by link, and the rates of the campaigns before it.',
    reply: wrapped('Results of the current send.', CampaignResults),
    handle: async ({ db, project, params }) => ok(await campaignResults(db, project.id, params.id)),
  }),
  route.get('/campaigns/:id/recipients', {
    heavy: true,
    ...inProject('campaigns:read'),
    summary: 'List the recipients of a campaign with their verdicts',
    description:
      'The ledger of the current send, of one `verdict` (handed_over, skipped, failed, unknown, pending) or of all, and of what recipients `did`; as a CSV file with `format=csv` or `Accept: text/csv`. With `type` (bounced, complained), the recipients whose mail bounced or was reported as spam, newest first.',
    ids,
    query: ListRecipients,
    returns: 'The page of recipients; as CSV, a file of all of them.',
    reply: RecipientsPage,
    textReply: 'text/csv',
    async handle({ db, project, params, query, header }) {
      const id = params.id;
      const asFile = query.format === 'csv' || (query.format === undefined && wantsCsv(header('accept')));
      if (!asFile) return listRecipients(db, project.id, id, query);
      const file = await recipientsCsv(db, project.id, id, query);
      await db.transaction((tx) =>
        recordChange(tx, project.id, {
          action: 'campaign.recipients_exported',
          target: id,
          after: { verdict: query.verdict, did: query.did },
        }),
      );
      return csvReply(file, `campaign-${id}-recipients.csv`);
    },
  }),
];

function wantsCsv(accept: string): boolean {
  return /^\s*text\/csv\s*(?:[;,]|$)/i.test(accept);
}
