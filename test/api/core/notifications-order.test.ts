import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MailEffect, Notification } from '../../../src/domains/providers/mailer.ts';
import { applyNotification } from '../../../src/feedback/reports/notify.ts';
import { newId } from '../../../src/lib/ids.ts';
import { settleMail } from '../../../src/mail/ledger/settle.ts';
import type { Database } from '../../../src/store/sql.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { aProject, type TestProject } from '../../support/delivery-fixtures.ts';
import { aSentMail, type SentMail } from '../../support/sent-mail.ts';

let store: TestDatabase;
let project: TestProject;
beforeAll(async () => {
  store = await testDatabase();
  project = await aProject(store.db);
});
afterAll(async () => {
  await store?.close();
});

const permanent: MailEffect = { kind: 'bounce', bounceType: 'Permanent', error: '550 5.1.1' };
const transient: MailEffect = { kind: 'bounce', bounceType: 'Transient', error: '452' };
const failure: MailEffect = { kind: 'failure', error: 'Bad content' };
const several = (effect: MailEffect, most: number) =>
  fc.nat({ max: most }).map((count) => Array.from({ length: count }, () => effect));

// An opt-out counts as one only for who was still subscribed, so that it is not mixed with what unsubscribes by itself.
const effects = fc
  .tuple(
    several({ kind: 'sent' }, 1),
    several({ kind: 'delivery' }, 1),
    several({ kind: 'open' }, 3),
    several({ kind: 'click', link: 'https://acme.test' }, 2),
    several(transient, 1),
    several(failure, 1),
    fc.oneof(
      several({ kind: 'optOut', own: true }, 1),
      fc.tuple(several(permanent, 2), several({ kind: 'complaint' }, 1)).map((parts) => parts.flat()),
    ),
  )
  .map((parts) => parts.flat());

/** A set of reports, and an order in which they come, some of them again. */
const history = effects.chain((set) =>
  fc.record({
    set: fc.constant(set),
    order: fc
      .tuple(
        fc.shuffledSubarray(
          set.map((_, place) => place),
          { minLength: set.length },
        ),
        set.length === 0 ? fc.constant([]) : fc.array(fc.nat({ max: set.length - 1 }), { maxLength: 4 }),
      )
      .map(([all, again]) => [...all, ...again]),
    settledAfter: fc.nat({ max: set.length }),
  }),
);

const minute = (place: number) => `2026-11-01T10:${String(place).padStart(2, '0')}:00.000Z`;

function notificationsOf(mail: SentMail, set: readonly MailEffect[]): Notification[] {
  return set.map((effect, place) => ({
    key: `${mail.id}:${place}`,
    emailId: mail.id,
    projectId: mail.project.id,
    messageId: mail.messageId,
    recipient: mail.email,
    at: minute(place),
    effect,
  }));
}

/** What the mail, its campaign, its contact and its events must be, whatever the order was. */
function expected(set: readonly MailEffect[]) {
  const places = (...wanted: string[]) => set.flatMap(({ kind }, place) => (wanted.includes(kind) ? [place] : []));
  const first = (found: number[]) => {
    const [place] = found;
    return place === undefined ? null : minute(place);
  };
  const bounces = set.flatMap((effect, place) => (effect === permanent ? [place] : []));
  const complaints = places('complaint');
  const [delivered, opened, clicked] = [places('delivery'), places('open'), places('click')];
  const refused = set.includes(failure);
  const told = complaints.length
    ? 'COMPLAINED'
    : bounces.length
      ? 'BOUNCED'
      : clicked.length
        ? 'CLICKED'
        : opened.length
          ? 'OPENED'
          : delivered.length
            ? 'DELIVERED'
            : refused
              ? 'FAILED'
              : 'SENT';
  const leaves = bounces.length + complaints.length + places('optOut').length > 0;
  const names = set.flatMap(({ kind }) =>
    ['optOut', 'sent'].includes(kind) ? [] : [kind === 'failure' ? 'email.failed' : `email.${kind}`],
  );
  return {
    row: {
      status: told,
      error: bounces.length ? '550 5.1.1' : told === 'FAILED' ? 'Bad content' : null,
      opens: opened.length,
      clicks: clicked.length,
      delivered_at: first(delivered),
      opened_at: first(opened),
      clicked_at: first(clicked),
      bounced_at: first(bounces),
      complained_at: first(complaints),
      subscribed: !leaves,
    },
    counters: {
      delivered_count: Math.min(1, delivered.length),
      opened_count: Math.min(1, opened.length),
      clicked_count: Math.min(1, clicked.length),
      bounced_count: Math.min(1, bounces.length),
      complained_count: Math.min(1, complaints.length),
      unsubscribed_count: places('optOut').length,
    },
    events: [...names, ...(leaves ? ['contact.unsubscribed'] : [])].toSorted(),
  };
}

async function seen(mail: SentMail) {
  const times = ['delivered', 'opened', 'clicked', 'bounced', 'complained'].map(
    (name) => `to_char(e.${name}_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${name}_at`,
  );
  const row = await store.db.row<Record<string, unknown>>(
    `select e.status, mail_reason_text(e.reason) as error, e.opens, e.clicks, ${times.join(', ')}, c.subscribed
     from emails e join contacts c on c.id = e.contact_id where e.id = $1`,
    [mail.id],
  );
  const events = await store.db.rows<{ name: string }>('select name from events where contact_id = $1', [
    mail.contactId,
  ]);
  return { row, events: events.map(({ name }) => name).toSorted() };
}

/** The campaign's counts by hour, added up, and those by link. */
async function results({ campaignId }: SentMail) {
  const sums = ['delivered', 'opened', 'clicked', 'bounced'].map((name) => `coalesce(sum(${name}), 0)::int as ${name}`);
  return {
    hours: await store.db.row(`select ${sums.join(', ')} from campaign_hours where campaign_id = $1`, [campaignId]),
    links: await store.db.rows('select link, clicks, recipients from campaign_links where campaign_id = $1', [
      campaignId,
    ]),
  };
}

test('reports in any order, some of them again, end in the same mail, counters, contact and events', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ set, order }) => {
      const mail = await aSentMail(store.db, { project, campaign: true });
      const reports = notificationsOf(mail, set);
      const wanted = expected(set);
      const done = new Set<number>();
      for (const place of order) {
        const outcome = await applyNotification(store.db, 'test', mailOf(mail), reports[place] as Notification, false);
        expect(outcome).toBe(done.has(place) ? 'duplicate' : 'done');
        done.add(place);
      }
      expect(await seen(mail)).toEqual({ row: wanted.row, events: wanted.events });
      const counters = await store.db.row(
        `select ${Object.keys(wanted.counters).join(', ')} from campaigns where id = $1`,
        [mail.campaignId],
      );
      expect(counters).toEqual(wanted.counters);
      const { delivered_count, opened_count, clicked_count, bounced_count } = wanted.counters;
      expect(await results(mail)).toEqual({
        hours: { delivered: delivered_count, opened: opened_count, clicked: clicked_count, bounced: bounced_count },
        links: clicked_count === 0 ? [] : [{ link: 'https://acme.test', clicks: wanted.row.clicks, recipients: 1 }],
      });
    }),
    { numRuns: 60 },
  );
});

test('reports that come before, between and after our own record of the hand-over change nothing of that either', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ set, order, settledAfter }) => {
      const mail = await aSentMail(store.db, { project, sent: false });
      const claim = newId();
      await store.db.count('insert into email_queue (email_id, project_id, claim_id) values ($1, $2, $3)', [
        mail.id,
        project.id,
        claim,
      ]);
      const settle = () =>
        settleMail(store.db, { id: claim, provider: 'test' }, [
          {
            emailId: mail.id,
            outcome: 'SENT',
            messageId: mail.messageId,
            at: minute(59),
            subject: 'A heron',
            body: '<p>Hi</p>',
            stream: null,
          },
        ]);
      const reports = notificationsOf(mail, set);
      for (const [step, place] of order.entries()) {
        if (step === settledAfter) await settle();
        await applyNotification(store.db, 'test', mailOf(mail), reports[place] as Notification, true);
      }
      // The last word of a claim may be written again.
      await settle();
      const { row, events } = expected(set);
      expect(await seen(mail)).toEqual({ row, events: [...events, 'email.sent'].toSorted() });
      expect(
        await store.db.row(
          `select sent_at = $2::timestamptz as sent, message_id, body, (select count(*)::int from email_queue where email_id = $1) as queued
           from emails where id = $1`,
          [mail.id, minute(59)],
        ),
      ).toEqual({ sent: true, message_id: mail.messageId, body: '<p>Hi</p>', queued: 0 });
    }),
    { numRuns: 60 },
  );
});

test('reports at the same moment end like reports one after another', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ set, order }) => {
      const mail = await aSentMail(store.db, { project, campaign: true });
      const reports = notificationsOf(mail, set);
      await Promise.all(
        order.map((place) => applyNotification(store.db, 'test', mailOf(mail), reports[place] as Notification, false)),
      );
      const { row, events } = expected(set);
      expect(await seen(mail)).toEqual({ row, events });
    }),
    { numRuns: 30 },
  );
});

test('reports about many mails that arrive together end like reports one after another', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(history, { minLength: 2, maxLength: 12 }), fc.boolean(), async (histories, twice) => {
      const mails = await Promise.all(histories.map(() => aSentMail(store.db, { project, campaign: true })));
      // Every other mail is the first one's campaign's, so that a statement counts for several, and for one several times.
      const campaigns = mails.map(({ campaignId }, index) => (index % 2 === 0 ? mails[0]?.campaignId : campaignId));
      await store.db.count(
        `update emails e set campaign_id = c.id from unnest($1::uuid[], $2::uuid[]) as c (email_id, id) where e.id = c.email_id`,
        [mails.map(({ id }) => id), campaigns],
      );
      const all = histories.flatMap(({ set, order }, index) => {
        const mail = mails[index] as SentMail;
        const notifications = notificationsOf(mail, set);
        return order.map((place) => ({
          mail: mailOf(mail),
          notification: notifications[place] as Notification,
        }));
      });
      // Reports of different mails take turns, as they do when a campaign goes out.
      const arriving = all.toSorted((one, other) =>
        one.notification.key.slice(37) < other.notification.key.slice(37) ? -1 : 1,
      );
      const outcomes = await Promise.all(
        (twice ? [...arriving, ...arriving] : arriving).map(({ mail, notification }) =>
          applyNotification(store.db, 'test', mail, notification, false),
        ),
      );
      const different = new Set(all.map(({ notification }) => notification.key)).size;
      expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(different);
      expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(outcomes.length - different);
      const wanted = histories.map(({ set }) => expected(set));
      for (const [index, mail] of mails.entries())
        expect(await seen(mail)).toEqual({ row: wanted[index]?.row, events: wanted[index]?.events });
      for (const campaignId of new Set(campaigns)) {
        const own = wanted.filter((_each, index) => campaigns[index] === campaignId);
        const names = Object.keys(own[0]?.counters ?? {}) as (keyof (typeof own)[0]['counters'])[];
        const sums = Object.fromEntries(
          names.map((name) => [name, own.reduce((sum, { counters }) => sum + counters[name], 0)]),
        );
        expect(await store.db.row(`select ${names.join(', ')} from campaigns where id = $1`, [campaignId])).toEqual(
          sums,
        );
        const clicks = own.reduce((sum, { row }) => sum + row.clicks, 0);
        expect(await results({ ...(mails[0] as SentMail), campaignId: campaignId ?? null })).toEqual({
          hours: {
            delivered: sums.delivered_count,
            opened: sums.opened_count,
            clicked: sums.clicked_count,
            bounced: sums.bounced_count,
          },
          links: clicks === 0 ? [] : [{ link: 'https://acme.test', clicks, recipients: sums.clicked_count }],
        });
      }
    }),
    { numRuns: 20 },
  );
});

test('reports that arrive together share a statement, and one that Postgres refuses fails alone', async () => {
  let together = 0;
  const transaction: Database['transaction'] = (work, settings) => {
    together += 1;
    return store.db.transaction(work, settings);
  };
  const counting = { ...store.db, transaction };
  const delivered = async (mails: readonly SentMail[], changes: Partial<Notification>[] = []) => {
    const outcomes = await Promise.allSettled(
      mails.map((mail, index) => {
        const [notification] = notificationsOf(mail, [{ kind: 'delivery' }]) as [Notification];
        const changed = { ...notification, ...changes[index] };
        return applyNotification(counting, 'test', mailOf(mail), changed, false);
      }),
    );
    const statuses = await Promise.all(mails.map(async (mail) => (await seen(mail)).row?.status));
    return outcomes.map(({ status }, index) => `${status} ${statuses[index]}`);
  };
  const mails = () => Promise.all(Array.from({ length: 5 }, () => aSentMail(store.db, { project })));
  expect(await delivered(await mails())).toEqual(Array(5).fill('fulfilled DELIVERED'));
  expect(together).toBe(1);
  const [good, bad] = ['fulfilled DELIVERED', 'rejected SENT'];
  expect(await delivered(await mails(), [{}, { at: 'no instant' }])).toEqual([good, bad, good, good, good]);
  expect(together).toBe(2);
});

function mailOf({ id, project: { id: projectId } }: SentMail) {
  return { emailId: id, projectId };
}
