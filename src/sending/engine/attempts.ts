const mostAttempts = 8;
const mostAgeMs = 24 * 60 * 60 * 1000;

/** A provider, or a proxy before it, may ask to be left alone for so long; after that it is asked whether it means it. */
export const longestAskedMs = 60 * 60 * 1000;

/**
 * How long a refused mail waits before its next attempt: 1 s, doubled each time up to a minute, or what was asked for, an
 * hour at most.
 */
export function retryDelay(attempts: number, afterMs: number | null, random = Math.random()): number {
  const wait = Math.min(60_000, 1000 * 2 ** Math.min(attempts, 10)) * (0.75 + random / 4);
  return Math.round(Math.max(wait, Math.min(afterMs ?? 0, longestAskedMs)));
}

/**
 * Why a mail is given up after a further refused attempt, or null (contract page 3, 10.4). While the provider is held,
 * refusals say nothing of the mail, so that only its age counts.
 */
export function givenUp(
  mail: { attempts: number; ageMs: number },
  providerHeld: boolean,
  reason: string,
): string | null {
  if (mail.ageMs > mostAgeMs) return `Given up after 24 hours: ${reason}`;
  if (!providerHeld && mail.attempts + 1 >= mostAttempts) return `Given up after ${mostAttempts} attempts: ${reason}`;
  return null;
}

/** Why a mail is given up that may be with the provider although nobody can tell (contract page 3, 10.4). */
export const submissionUnknown = 'submission unknown';

/**
 * Cuts a claim into calls. Mail that was refused before goes in ever smaller calls, so that one message that makes
 * every call fail is alone in the end and takes no other down with it.
 */
export function callsOf<Mail extends { attempts: number }>(mails: readonly Mail[], most: number): Mail[][] {
  const calls: Mail[][] = [];
  const open = new Map<number, Mail[]>();
  for (const mail of mails) {
    const size = mail.attempts < 2 ? most : Math.max(1, Math.floor(most / 8 ** (mail.attempts - 1)));
    let call = open.get(size);
    if (call === undefined || call.length >= size) {
      call = [];
      calls.push(call);
      open.set(size, call);
    }
    call.push(mail);
  }
  return calls;
}
