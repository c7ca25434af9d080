import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from './stack.ts';

/** An answer of the API or of the sandbox. */
interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a script that reads a few fields of many kinds of answers.
  body: any;
}

/** Calls one server with JSON. */
export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

const answerMs = 10_000;
const retryMs = 250;

/** A client of a server that may be away; each call is tried once and rejects when no answer comes. */
export function client(baseUrl: string, key: string | null): Call {
  return async (method, path, body, headers = {}) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerMs),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
    return { status: answer.status, body: isJson && text !== '' ? JSON.parse(text) : text };
  };
}

/** Tries again until an attempt answers something, as a caller does whose server is away for a moment. */
export async function until<T>(attempt: () => Promise<T | null>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    const answer = await attempt().catch(() => null);
    if (answer !== null) return answer;
    await sleep(retryMs, undefined, { signal });
  }
}

/** The letters of a caller of `POST /v1/send`, sent while everything around it was killed. */
export interface Letters {
  /** Addresses whose request was answered: these must arrive, once. */
  accepted: string[];
  /** Addresses whose request was cut off, so that its `Idempotency-Key` is used but the answer never arrived: at most once. */
  uncertain: string[];
}

const pauseMs = 250;

/**
 * Sends one transactional mail after the other until it is stopped, as a shop does while a campaign runs: each with an
 * `Idempotency-Key`, and again with the same key for as long as no answer comes.
 */
export async function sendLetters(api: Call, sender: string, stop: AbortSignal): Promise<Letters> {
  const letters: Letters = { accepted: [], uncertain: [] };
  for (let number = 0; !stop.aborted; number += 1) {
    const address = `letter-${number}@shop.example`;
    (await sendOne(api, sender, address, stop)) ? letters.accepted.push(address) : letters.uncertain.push(address);
    await sleep(pauseMs, undefined, { signal: stop }).catch(() => undefined);
  }
  return letters;
}

async function sendOne(api: Call, from: string, to: string, stop: AbortSignal): Promise<boolean> {
  const key = randomUUID();
  for (;;) {
    const answer = await api(
      'POST',
      '/v1/send',
      { to, from, subject: 'Your receipt', body: '<p>Thank you for your order.</p>' },
      { 'Idempotency-Key': key },
    ).catch(() => null);
    if (answer?.status === 200) return true;
    // The first attempt got through; the key keeps how it ended, or nothing when it was cut off.
    if (answer?.status === 409) return answer.body.error.details.originalStatusCode === 200;
    if (answer !== null && answer.status < 500)
      throw new Error(`/v1/send: ${answer.status} ${JSON.stringify(answer.body)}`);
    if (stop.aborted) return false;
    await sleep(pauseMs);
  }
}

const rowsPerFile = 50_000;
const cities = ['Husum', 'Vlissingen', 'Gdańsk', 'Sète', 'Cádiz', 'Burgas'];
const plans = ['free', 'member', 'patron'];

/** Imports the audience and makes the campaign. */
export async function setUp(
  { project, sandboxUrl }: Stack,
  recipients: number,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<{ api: Call; sandbox: Call; campaignId: string }> {
  const api = client(project.baseUrl, project.secretKey);
  await importAudience(api, recipients, stop);
  say(`${recipients.toLocaleString('en-US')} contacts are imported`);
  const { body } = await api('POST', '/campaigns', campaignOf(project.sender));
  return { api, sandbox: client(sandboxUrl, null), campaignId: body.data.id };
}

/** Imports the audience as a marketer would, by CSV. Rejects when an import does not take every row. */
async function importAudience(api: Call, recipients: number, signal: AbortSignal): Promise<void> {
  for (let from = 0; from < recipients; from += rowsPerFile) {
    const count = Math.min(rowsPerFile, recipients - from);
    const rows = Array.from({ length: count }, (_, place) => {
      const number = from + place;
      return `${addressOf(number)},Person ${number},${cities[number % cities.length]},${plans[number % plans.length]}`;
    });
    const form = new FormData();
    form.append(
      'file',
      new Blob([`email,firstName,city,plan\n${rows.join('\n')}\n`], { type: 'text/csv' }),
      'people.csv',
    );
    const queued = await api('POST', '/contacts/import', form);
    if (queued.status !== 202) throw new Error(`the import was refused: ${JSON.stringify(queued.body)}`);
    const job = await until(async () => {
      const { body } = await api('GET', `/contacts/import/${queued.body.jobId}`);
      return body.state === 'completed' || body.state === 'failed' ? body : null;
    }, signal);
    if (job.result?.createdCount !== count)
      throw new Error(`the import did not take ${count} rows: ${JSON.stringify(job)}`);
  }
}

/** The address of a recipient by their number. */
export function addressOf(number: number): string {
  return `person-${String(number).padStart(6, '0')}@birdwatch.example`;
}

/** The campaign: personal in subject and body, with a link, so that rendering has something to do. */
function campaignOf(sender: string) {
  return {
    name: 'Drill: the autumn letter',
    subject: 'The migration has begun, {{firstName}}',
    body: `<h1>Dear {{firstName}},</h1>
<p>the autumn migration has begun, and from {{city}} you can see the first flocks in the early morning.</p>
{% if plan == 'patron' %}<p>As a patron you have a place in the first boat.</p>{% endif %}
<p><a href="https://birdwatch.example/walks">Choose a walk</a></p>`,
    from: sender,
    type: 'MARKETING',
    audienceType: 'ALL',
  };
}
