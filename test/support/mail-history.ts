import type { MailEffect } from '../../src/domains/providers/mailer.ts';
import { applyNotification } from '../../src/feedback/reports/notify.ts';
import { firstIdAt, newId } from '../../src/lib/ids.ts';
import { cancelQueued } from '../../src/mail/emails/queries.ts';
import { writeSuppressed } from '../../src/mail/engine/suppression.ts';
import { type Settlement, settleMail } from '../../src/mail/ledger/settle.ts';
import { audience } from './audience.ts';
import type { TestDatabase } from './database.ts';
import { aContact, queueMail, type TestProject } from './delivery-fixtures.ts';

/** Random numbers from a seed, so that a failure can be repeated. */
export function seeded(seed: number) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    next,
    below: (limit: number) => Math.floor(next() * limit),
    one: <T>(of: readonly T[]) => of[Math.floor(next() * of.length)] as T,
  };
}

const effects: MailEffect[] = [
  { kind: 'delivery' },
  { kind: 'open' },
  { kind: 'click', link: 'https://birdwatch.test/herons' },
  { kind: 'bounce', bounceType: 'Permanent', error: 'No such mailbox' },
  { kind: 'bounce', bounceType: 'Transient', error: null },
  { kind: 'complaint' },
];

/** How much happens, and when. */
export interface History {
  steps: number;
  /** What reports and hand-overs are stamped with. */
  instants: readonly string[];
  deleting?: boolean;
  /** When mail is created; now when absent. */
  created?: readonly Date[];
}

/**
 * Lets mail be queued, handed over, refused, reported on in any order and deleted with its recipients, by the statements
 * that the service uses. Instants of mail repeat, so that there are ties.
 */
export async function liveThrough(
  { db }: TestDatabase,
  project: TestProject,
  random: ReturnType<typeof seeded>,
  { steps, instants, deleting = true, created }: History,
): Promise<void> {
  const people = audience();
  const mails: string[] = (
    await db.rows<{ id: string }>('select id from emails where project_id = $1 order by id', [project.id])
  ).map(({ id }) => id);
  for (let step = 0; step < steps; step += 1) {
    const dice = random.below(10);
    if (dice < 3 || mails.length === 0) {
      const { email } = random.one(people);
      const known = await db.row<{ id: string }>('select id from contacts where project_id = $1 and email = $2', [
        project.id,
        email,
      ]);
      const contactId = known?.id ?? (await aContact(db, project.id, email));
      const to = random.below(6) === 0 ? 'robin@sandbox.test' : email;
      const past = created && random.one(created);
      const id = past ? `${firstIdAt(past).slice(0, 15)}${newId().slice(15)}` : newId();
      mails.push(await queueMail(db, project, contactId, to, { id }));
      if (past) await createdAt(db, id, past);
    } else if (dice < 6) {
      await settle(db, random, mails, random.one(instants));
    } else if (dice < 9) {
      const emailId = random.one(mails);
      const notification = {
        key: `k-${newId()}`,
        emailId,
        projectId: project.id,
        messageId: null,
        recipient: 'heron@birdwatch.test',
      };
      const effect = random.one(effects);
      await applyNotification(
        db,
        'postmark',
        { emailId, projectId: project.id },
        { ...notification, at: random.one(instants), effect },
        true,
      );
    } else if (deleting && random.below(3) === 0) {
      await db.count(
        'delete from contacts where id in (select contact_id from emails where id = $1) and project_id = $2',
        [random.one(mails), project.id],
      );
    } else if (random.below(2) === 0) {
      await cancelQueued(db, project.id, random.one(mails));
    } else {
      const suppression = {
        ruleId: newId(),
        name: 'Herons',
        kind: 'DOMAIN',
        pattern: 'birdwatch.test',
        recipient: '',
        matchedAt: '',
      } as const;
      await writeSuppressed(db, [{ id: random.one(mails), suppression, subject: null, body: null }], null);
    }
  }
}

// Mail is counted when it is accepted: what is moved into the past goes from one hour to another.
async function createdAt(db: TestDatabase['db'], id: string, at: Date): Promise<void> {
  await db.count(
    `with moved as (update emails set created_at = $2 where id = $1 returning project_id, simulated)
     insert into mail_count_changes (project_id, hour, outgoing, rated)
     select project_id, date_bin('1 hour', hour, timestamptz 'epoch'), n, case when simulated then 0 else n end
     from moved, (values (now(), -1), ($2::timestamptz, 1)) change (hour, n)`,
    [id, at],
  );
}

async function settle(db: TestDatabase['db'], random: ReturnType<typeof seeded>, mails: readonly string[], at: string) {
  const ids = [...new Set(Array.from({ length: 4 }, () => random.one(mails)))];
  const claimId = newId();
  await db.count(
    'update email_queue set claim_id = $2, claimed_at = now() where email_id = any($1::uuid[]) and claim_id is null',
    [ids, claimId],
  );
  const settlements = ids.map((emailId): Settlement => {
    const texts = { subject: 'Herons', body: '<p>The herons are back.</p>' };
    const dice = random.below(8);
    if (dice === 0)
      return { emailId, outcome: 'FAILED', reason: { code: 'refused', number: 300, words: 'No' }, ...texts };
    if (dice === 1)
      return { emailId, outcome: 'BOUNCED', reason: { code: 'refused', number: 406, words: 'Inactive' }, ...texts };
    return { emailId, outcome: 'SENT', messageId: `m-${emailId}`, at, stream: 'outbound', ...texts };
  });
  await settleMail(db, { id: claimId, provider: 'postmark' }, settlements);
}
