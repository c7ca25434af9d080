import assert from 'node:assert/strict';
import { address, all, fernpost, from, inbox, until } from './app.ts';

// One email to an audience, with every recipient accounted for.
const plan = `plan-${crypto.randomUUID().slice(0, 8)}`;
const readers = [address('ada'), address('grace')];
for (const email of readers) await fernpost.contacts.upsert({ email, subscribed: true, data: { plan } });
await fernpost.contacts.upsert({ email: address('unsubscribed'), subscribed: false, data: { plan } });

const campaign = await fernpost.campaigns.create({
  name: `News for ${plan}`,
  subject: `News for ${plan}`,
  body: '<p>You are on the {{plan}} plan.</p>',
  from,
  audienceType: 'FILTERED',
  audienceCondition: {
    logic: 'AND',
    groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: plan }] }],
  },
});
await fernpost.campaigns.send(campaign.id);
const sent = await until(
  () => fernpost.campaigns.get(campaign.id),
  ({ status }) => status === 'SENT',
);
assert.deepEqual([sent.totalRecipients, sent.sentCount], [2, 2]);
for (const to of readers) assert.match((await inbox.waitFor({ to, subject: plan }, 60)).html, new RegExp(plan));
const recipients = await all(fernpost.all('listCampaignRecipients', { path: { id: campaign.id } }));
assert.equal(recipients.length, 2);
const { data: audit } = await fernpost.call('getCampaignAudit', { path: { id: campaign.id } });
assert.equal(audit.addsUp, true);
