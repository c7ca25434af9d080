import { messagesAt } from '../balance.ts';
import { addressOf, type Call, setUp, until } from '../letters.ts';
import type { DrillOptions, Target } from '../plan.ts';
import { pacedSettings, send } from '../run.ts';
import type { Stack } from '../stack.ts';
import { type CanaryBalance, drawCanaryBalance, type Moment, planCanary, type SentSoFar, sentSoFar } from './report.ts';

/** Percentage of the canary above which bounces stop the campaign, and percentage that bounces. */
const limitPercent = 3;
const wavePercent = 4;
// A project younger than 30 days is disabled at 25 bounces a day, and could not be resumed.
const mostRecipients = 500;
const callsAtOnce = 8;

/** The canary of the campaign, as far as the drill reads it. */
interface CanaryStatus {
  state: string;
  endedAt: string | null;
  counts: { mailed: number; delivered: number; bounced: number };
  stopped: { code: string; count: number; of: number; limit: number } | null;
}

/** The result of a drill with a canary. */
export interface CanaryResult {
  slice: number;
  /** Messages that were made to bounce. */
  wave: number;
  /** The canary once it had stopped the campaign; null when it did not in time. */
  canary: CanaryStatus | null;
  /** ISO instant of the request to send, and of the first bounce. */
  sentAt: string;
  waveAt: string | null;
  /** The mail that had been sent when the campaign had stopped. */
  atStop: SentSoFar | null;
  /** The end: null when it was not reached in time. */
  balance: CanaryBalance | null;
  killed: Map<Target, number>;
  restarts: string[];
}

/** How many recipients the canary has. */
const sliceOf = ({ recipients }: Pick<DrillOptions, 'recipients'>) =>
  Math.min(mostRecipients, Math.max(30, Math.round(recipients / 20)));

/** Settings of the stack: the canary takes some seconds, which is time to kill something. */
export function canarySettings({ recipients }: DrillOptions): Record<string, string> {
  return pacedSettings(recipients, { rate: recipients / 120, chunk: sliceOf({ recipients }) / 10 });
}

/**
 * Sends a campaign to a canary, kills every process, lets messages of the canary bounce, waits for the campaign to stop, and
 * resumes or cancels it.
 */
export async function runCanaryDrill(
  stack: Stack,
  options: DrillOptions,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<CanaryResult> {
  const { api, sandbox, campaignId } = await setUp(stack, options.recipients, say, stop);
  const slice = sliceOf(options);
  const result: CanaryResult = {
    slice,
    wave: Math.ceil((slice * wavePercent) / 100),
    canary: null,
    sentAt: new Date().toISOString(),
    waveAt: null,
    atStop: null,
    balance: null,
    killed: new Map(),
    restarts: [],
  };
  const over = AbortSignal.any([stop, AbortSignal.timeout(options.minutes * 60_000)]);
  const drill = new CanaryDrill(stack, { api, sandbox }, campaignId, options, result, say, over);
  try {
    await drill.run();
  } catch (error) {
    stop.throwIfAborted();
    if (!over.aborted) throw error;
  }
  result.restarts = stack.restarts();
  return result;
}

class CanaryDrill {
  readonly #stack: Stack;
  readonly #api: Call;
  readonly #sandbox: Call;
  readonly #campaignId: string;
  readonly #options: DrillOptions;
  readonly #result: CanaryResult;
  readonly #say: (line: string) => void;
  readonly #signal: AbortSignal;
  readonly #plan: Record<Moment, Target[]>;

  constructor(
    stack: Stack,
    { api, sandbox }: { api: Call; sandbox: Call },
    campaignId: string,
    options: DrillOptions,
    result: CanaryResult,
    say: (line: string) => void,
    signal: AbortSignal,
  ) {
    this.#stack = stack;
    this.#api = api;
    this.#sandbox = sandbox;
    this.#campaignId = campaignId;
    this.#options = options;
    this.#result = result;
    this.#say = say;
    this.#signal = signal;
    this.#plan = planCanary(options);
  }

  async run(): Promise<void> {
    const { slice } = this.#result;
    const canary = { recipients: slice, hold: '10m', stopIf: { bounceRate: limitPercent } };
    await send(this.#api, this.#campaignId, this.#signal, { canary });
    await this.#until(async () => ((await this.#accepted()) > 0 ? true : null));
    await this.#kill('sending');
    await this.#untilState('HOLDING');
    this.#tell(`the canary is held: ${await this.#accepted()} messages are at the provider`);
    await this.#kill('holding');
    await this.#untilState('HOLDING');
    await this.#bounce();
    this.#result.canary = await this.#untilState('STOPPED');
    this.#tell('the canary has stopped the campaign');
    this.#result.atStop = await this.#sent();
    await this.#end();
  }

  /** Lets messages of the canary bounce, and kills processes just before the limit is reached. */
  async #bounce(): Promise<void> {
    const { slice, wave } = this.#result;
    const messages = (await this.#until(() => messagesAt(this.#sandbox))).slice(0, wave);
    const below = Math.floor((slice * limitPercent) / 100);
    this.#result.waveAt = new Date().toISOString();
    this.#tell(`${wave} messages begin to bounce`);
    await this.#bounceAll(messages.slice(0, below));
    await this.#kill('bouncing');
    await this.#bounceAll(messages.slice(below));
  }

  // A provider reports until it is heard, so that a report that met no API is made again.
  async #bounceAll(messages: readonly { id: string }[]): Promise<void> {
    const waiting = [...messages];
    const bounceNext = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const path = `/api/messages/${next.id}/events`;
        await this.#until(async () => {
          const { body } = await this.#sandbox('POST', path, { type: 'hardBounce' });
          return body.webhook?.delivered ? true : null;
        });
      }
    };
    await Promise.all(Array.from({ length: callsAtOnce }, bounceNext));
  }

  async #end(): Promise<void> {
    const action = this.#options.canary ?? 'resume';
    const ends = action === 'cancel' ? 'CANCELLED' : 'SENT';
    const { status, body } = await this.#until(async () => {
      const asked = await this.#api('POST', `/campaigns/${this.#campaignId}/${action}`);
      return asked.status < 500 ? asked : null;
    });
    if (status >= 300) throw new Error(`The campaign could not be ended: ${status} ${JSON.stringify(body)}`);
    this.#tell(action === 'cancel' ? 'it is cancelled' : 'it is resumed');
    await this.#until(async () => {
      if ((await this.#campaign()).status !== ends) return null;
      const { body } = await this.#api('GET', `/campaigns/${this.#campaignId}/audit`);
      return body.data.addsUp ? true : null;
    });
    this.#result.balance = await this.#until(() =>
      drawCanaryBalance(this.#api, this.#campaignId, this.#sent(), this.#addresses()),
    );
  }

  #sent() {
    const { databaseUrl } = this.#stack;
    const { slice } = this.#result;
    return this.#until(() => sentSoFar({ databaseUrl, sandbox: this.#sandbox, campaignId: this.#campaignId, slice }));
  }

  #addresses(): string[] {
    return Array.from({ length: this.#options.recipients }, (_, number) => addressOf(number));
  }

  #untilState(state: string): Promise<CanaryStatus> {
    return this.#until(async () => {
      const { canary } = await this.#campaign();
      return canary?.state === state ? canary : null;
    });
  }

  async #campaign(): Promise<{ status: string; canary: CanaryStatus | null }> {
    return (await this.#api('GET', `/campaigns/${this.#campaignId}`)).body.data;
  }

  async #accepted(): Promise<number> {
    return (await this.#sandbox('GET', '/api/stats')).body.accepted;
  }

  async #kill(moment: Moment): Promise<void> {
    const { killed } = this.#result;
    for (const victim of this.#plan[moment]) {
      this.#signal.throwIfAborted();
      if (await this.#stack.kill(victim)) killed.set(victim, (killed.get(victim) ?? 0) + 1);
      this.#tell(`kill -9 ${victim}, while ${moment}`);
    }
  }

  #until<T>(attempt: () => Promise<T | null>): Promise<T> {
    return until(attempt, this.#signal);
  }

  #tell(what: string): void {
    const seconds = (Date.now() - Date.parse(this.#result.sentAt)) / 1000;
    this.#say(`${seconds.toFixed(1).padStart(6)} s  ${what}`);
  }
}
