import { countEmails } from '../../lib/telemetry.ts';
import type { Settled } from '../ledger/settle.ts';
import { persistently, retryDelay } from './attempts.ts';
import { holdFor } from './breaker.ts';
import { handOver } from './hand-over.ts';
import { judgeUnconfirmed, lookUpClaim } from './look-up.ts';
import type { Claim, EngineDeps, KeptTexts, Outcome } from './port.ts';

/**
 * Works on one claim: reads its mail, looks up what may be with the provider, hands the rest over, and settles all of it. Rejects
 * when that cannot be written down; the claim then stays with its attempt. The provider's answer is known to this process alone
 * until it is settled: should the process die before that, the claim stays open, whoever takes it over finds it unconfirmed, and
 * what the provider took is found under the claim's ID and not sent again.
 */
export async function workOn<Mail>(deps: EngineDeps, claim: Claim<Mail>): Promise<Settled> {
  const total: Settled = { sent: 0, skipped: 0, failed: 0 };
  const noted: Outcome<Mail>[] = [];
  const write = async (outcomes: readonly Outcome<Mail>[]) => {
    add(total, await persistently(() => claim.settle(outcomes)));
    for (const { mail, outcome } of outcomes)
      if (outcome !== 'RETRY' && outcome !== 'HELD' && outcome !== 'UNCONFIRMED')
        countEmails(outcome, claim.sourceOf(mail));
  };
  const settle = claim.settlesWhole
    ? async (outcomes: readonly Outcome<Mail>[]) => void noted.push(...outcomes)
    : write;
  const { known, open } = await lookUp(deps, claim, await claim.mails());
  if (known.length > 0) await settle(known);
  if (open.length > 0) await handOver(deps, claim, open, settle);
  if (claim.settlesWhole) await write(noted);
  return total;
}

/** Adds settled mail to a total. */
export function add(total: Settled, { sent, skipped, failed }: Settled): void {
  total.sent += sent;
  total.skipped += skipped;
  total.failed += failed;
}

/** Finds the mail of a claim whose outcome is known without a call, by reports and a search at the provider; `open` may be handed over. */
async function lookUp<Mail>(
  deps: EngineDeps,
  claim: Claim<Mail>,
  mails: readonly Mail[],
): Promise<{ known: Outcome<Mail>[]; open: Mail[] }> {
  const known: Outcome<Mail>[] = [];
  const open: Mail[] = [];
  const unconfirmed: { mail: Mail; sinceMs: number; lagMs: number }[] = [];
  for (const mail of mails) {
    const [proof, handed] = [claim.proofOf(mail), claim.handedOf(mail)];
    if (proof !== null) known.push(proof);
    else if (handed !== null) unconfirmed.push({ mail, ...handed });
    else open.push(mail);
  }
  if (unconfirmed.length > 0) {
    const found = await lookUpClaim(deps, claim.id);
    const held = (await holdFor(deps.db, deps.mailer.name)) !== null;
    for (const { mail, ...times } of unconfirmed) {
      const judgement = judgeUnconfirmed({ emailId: claim.idOf(mail), ...claim.triedOf(mail), ...times }, found, held);
      if (judgement.kind === 'sent') {
        const { messageId, at } = judgement;
        known.push({ mail, outcome: 'SENT', messageId, at, ...renderedAgain(claim, mail) });
      } else if (judgement.kind === 'failed')
        known.push({ mail, outcome: 'FAILED', reason: judgement.reason, texts: null });
      else if (judgement.kind === 'wait') known.push({ mail, outcome: 'UNCONFIRMED', delayMs: judgement.delayMs });
      else open.push(mail);
    }
    const sent = known.filter(({ outcome }) => outcome === 'SENT').length;
    deps.log.info(
      { claimId: claim.id, mails: mails.length, found: sent },
      'an interrupted claim was looked up at the provider',
    );
  }
  // While one message of a claim that is settled as a whole may still turn up, the others wait with it.
  const waits = claim.settlesWhole && known.some(({ outcome }) => outcome === 'UNCONFIRMED');
  // Whoever takes the claim next must count the provider's lag from now; only its holder may go on.
  const goesOn = !claim.lookUpOnly && !waits && (unconfirmed.length === 0 || (await claim.renew()));
  if (goesOn) return { known, open };
  return { known: [...known, ...open.map((mail) => lost(claim, mail))], open: [] };
}

function lost<Mail>(claim: Claim<Mail>, mail: Mail): Outcome<Mail> {
  const { attempts } = claim.triedOf(mail);
  const delayMs = attempts === 0 ? 0 : retryDelay(attempts, null);
  return { mail, outcome: 'RETRY', why: 'lost', delayMs, words: null };
}

/** Renders a sent message once more: from the same content, so that it reads as it was sent unless its contact has changed. */
export function renderedAgain<Mail>(
  claim: Pick<Claim<Mail>, 'compose' | 'keep'>,
  mail: Mail,
): { stream: string | null; texts: KeptTexts | null } {
  try {
    const message = claim.compose(mail);
    return { stream: message.stream, texts: claim.keep(message) };
  } catch {
    return { stream: null, texts: null };
  }
}
