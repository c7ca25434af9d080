import { setTimeout as sleep } from 'node:timers/promises';
import { type DrillResult, drawBalance, lettersWaiting } from './balance.ts';
import { addressOf, type Call, type Letters, sendLetters, setUp, until } from './letters.ts';
import { type Disturbance, type DrillOptions, labelOf, planDrill, seeded, type Victim, victims } from './plan.ts';
import type { Stack } from './stack.ts';

/** Settings of the drill's stack: slow enough for things to happen, in batches small enough to be cut in many places. */
export function drillSettings({ recipients, rounds }: DrillOptions): Record<string, string> {
  return pacedSettings(recipients, { rate: recipients / (10 + 5 * rounds), chunk: recipients / 80 });
}

/** Settings of a stack whose campaign sends about `rate` messages a second, in batches of about `chunk`. */
export function pacedSettings(recipients: number, pace: { rate: number; chunk: number }): Record<string, string> {
  return {
    RATE_LIMIT_PER_MINUTE: '0',
    SEND_RATE_PER_PROJECT: String(Math.max(20, Math.round(pace.rate))),
    SEND_CHUNK: String(Math.max(5, Math.min(500, Math.round(pace.chunk)))),
    // The sandbox finds what it took at once.
    PROVIDER_LOOKUP_LAG_SECONDS: '2',
    // Mail under way in a killed process is sent again after this time.
    PROVIDER_TIMEOUT_SECONDS: '5',
    SANDBOX_DELAY_MS: '0',
    SANDBOX_KEEP: String(recipients * 3 + 10_000),
  };
}

/** Sends the campaign while the plan happens, waits for the end of everything, and draws the balance. */
export async function runDrill(
  stack: Stack,
  options: DrillOptions,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<DrillResult> {
  const { recipients } = options;
  const { api, sandbox, campaignId } = await setUp(stack, recipients, say, stop);

  const over = AbortSignal.any([stop, AbortSignal.timeout(options.minutes * 60_000)]);
  const lettersEnd = new AbortController();
  const sendingLetters = sendLetters(api, stack.project.sender, AbortSignal.any([over, lettersEnd.signal]));
  // Waited for below; until then a failure must not end the process.
  sendingLetters.catch(() => undefined);
  const began = performance.now();
  const tally = { killed: noKills(), disturbed: new Map<string, number>() };
  let finished = false;
  let sendMs = 0;
  try {
    const tell = (what: string, share: number) =>
      say(
        `${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s ${String(Math.floor(share * 100)).padStart(4)} %  ${what}`,
      );
    const happening = happen(stack, sandbox, planDrill(options), options, tally, tell, over);
    happening.catch(() => undefined);
    await send(api, campaignId, over);
    await happening;
    await until(async () => {
      const { body } = await api('GET', `/campaigns/${campaignId}`);
      return body.data?.status === 'SENT' ? true : null;
    }, over);
    sendMs = performance.now() - began;
    lettersEnd.abort();
    await sendingLetters;
    await until(async () => ((await lettersWaiting(stack.databaseUrl)) === 0 ? true : null), over);
    finished = true;
  } catch (error) {
    stop.throwIfAborted();
    if (!over.aborted) throw error;
  }
  lettersEnd.abort();
  const letters: Letters = await sendingLetters;
  await withoutUnspent(sandbox, tally.disturbed);
  const balance = await until(
    () =>
      drawBalance({
        databaseUrl: stack.databaseUrl,
        api,
        sandbox,
        campaignId,
        audience: Array.from({ length: recipients }, (_, number) => addressOf(number)),
        letters,
      }),
    AbortSignal.any([stop, AbortSignal.timeout(120_000)]),
  );
  return { balance, finished, sendMs, ...tally, restarts: stack.restarts() };
}

/** Sends a campaign. The answer may be lost with the API; whether the request got through is read from the campaign. */
export async function send(api: Call, campaignId: string, signal: AbortSignal, options: object = {}): Promise<void> {
  await until(async () => {
    await api('POST', `/campaigns/${campaignId}/send`, options).catch(() => undefined);
    const { body } = await api('GET', `/campaigns/${campaignId}`);
    return body.data?.status === 'DRAFT' ? null : true;
  }, signal);
}

async function happen(
  stack: Stack,
  sandbox: Call,
  plan: readonly Disturbance[],
  { recipients, seed }: DrillOptions,
  tally: { killed: Record<Victim, number>; disturbed: Map<string, number> },
  tell: (what: string, share: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const random = seeded(seed + 1);
  for (const disturbance of plan) {
    const share = await until(async () => {
      const reached = (await sandbox('GET', '/api/stats')).body.accepted / recipients;
      return reached >= disturbance.at ? reached : null;
    }, signal);
    await sleep(Math.floor(300 * random()), undefined, { signal });
    if ('kill' in disturbance) {
      if (await stack.kill(disturbance.kill)) tally.killed[disturbance.kill] += 1;
      tell(`kill -9 ${disturbance.kill}`, share);
    } else {
      const body = disturbance.fault;
      const label = labelOf(body);
      await sandbox('POST', '/api/faults', body);
      tally.disturbed.set(label, (tally.disturbed.get(label) ?? 0) + body.times);
      tell(`the provider ${label}${body.times > 1 ? `, ${body.times} times` : ''}`, share);
    }
  }
}

// A fault that no call ran into has disturbed nothing.
async function withoutUnspent(sandbox: Call, disturbed: Map<string, number>): Promise<void> {
  const { body } = await sandbox('GET', '/api/faults');
  for (const left of body.faults) {
    const label = labelOf(left);
    disturbed.set(label, (disturbed.get(label) ?? 0) - left.times);
  }
}

function noKills(): Record<Victim, number> {
  return Object.fromEntries(victims.map((victim) => [victim, 0])) as Record<Victim, number>;
}
