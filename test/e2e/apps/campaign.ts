import assert from 'node:assert/strict';
import { address, all, from, inbox, posthorn, until } from './app.ts';

// One email to an audience, with every recipient accounted for.
const plan = `plan-${crypto.randomUUID().slice(0, 8)}`;
const readers = [address('ada'), address('grace')];
for (const email of readers) await posthorn.contacts.upsert({ email, subscribed: true, data: { plan } });
await posthorn.contacts.upsert({ email: address('unsubscribed'), subscribed: false, data: { plan } });

const campaign = await posthorn.campaigns.create({
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
await posthorn.campaigns.send(campaign.id);
const sent = await until(
  () => posthorn.campaigns.get(campaign.id),
  ({ status }) => status === 'SENT',
);
assert.deepEqual([sent.totalRecipients, sent.sentCount], [2, 2]);
for (const to of readers) assert.match((await inbox.waitFor({ to, subject: plan }, 60)).html, new RegExp(plan));
const recipients = await all(posthorn.all('listCampaignRecipients', { path: { id: campaign.id } }));
assert.equal(recipients.length, 2);
const { data: audit } = await posthorn.call('getCampaignAudit', { path: { id: campaign.id } });
assert.equal(audit.addsUp, true);
