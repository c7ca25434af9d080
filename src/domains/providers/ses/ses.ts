import { setTimeout as pause } from 'node:timers/promises';
import { GetAccountCommand, SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import type { HandoverJournal, Mailer, OutgoingMessage, Verdict } from '../mailer.ts';
import { failedBeforeWriting, refusedBySes } from '../mime.ts';
import { createConnectionLimiter, createSingleMailer } from '../one-by-one.ts';

/** The reading of a failed call of Amazon SES. `throttled` asks for the same message again, more slowly. */
type SesFailure = { throttled: true; reason: string } | { throttled: false; verdict: Verdict };

// https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html#API_SendEmail_Errors and the errors that all
// services of AWS share.
const accountErrors = new Set([
  'AccountSuspendedException',
  'SendingPausedException',
  // The configuration set is gone.
  'NotFoundException',
  'LimitExceededException',
]);
const messageErrors = new Set(['MessageRejected', 'BadRequestException', 'MailFromDomainNotVerifiedException']);
const throttlingErrors = new Set(['TooManyRequestsException', 'ThrottlingException', 'Throttling']);
// Nothing was sent: there is nothing to sign a request with.
const localErrors = new Set(['CredentialsProviderError', 'TokenProviderError']);

/** Reads what the client of Amazon SES threw (docs/contract/platform.md#10-4). */
function readSesFailure(error: unknown): SesFailure {
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  const text = error instanceof Error ? error.message : String(error);
  const status = $metadata?.httpStatusCode;
  const account = retry(`Amazon SES refuses the account (${name}): ${text}`, 'account');
  if (localErrors.has(name)) return account;
  if (status === undefined) {
    if (failedBeforeWriting(error)) return retry(`Amazon SES cannot be reached: ${text}`, 'call');
    return unknown(`no answer from Amazon SES: ${text}`);
  }
  const reason = `Amazon SES answers ${status} (${name}): ${text}`;
  if (throttlingErrors.has(name) || status === 429)
    // The day's quota is not over in a moment.
    return /daily|quota/i.test(text) ? retry(reason, 'account') : { throttled: true, reason };
  if (accountErrors.has(name)) return account;
  if (messageErrors.has(name) || status === 413) return rejected(status, text);
  if (status === 503) return retry(reason, 'call');
  // A 2xx ends up here when its body broke off: the message may well have been taken.
  if (status >= 500 || status < 300) return unknown(reason);
  return account;
}

function retry(reason: string, scope: 'call' | 'account'): SesFailure {
  return { throttled: false, verdict: { kind: 'retry', reason, afterMs: null, scope } };
}

function rejected(code: number, reason: string): SesFailure {
  return { throttled: false, verdict: { kind: 'rejected', code, reason, inactive: false } };
}

function unknown(reason: string): SesFailure {
  return { throttled: false, verdict: { kind: 'unknown', reason } };
}

/** How Amazon SES is reached. */
export interface SesAccess {
  region: string;
  /** Null takes what the machine has: environment, profile, or the role of the instance. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  /** Base URL in place of Amazon's own, for example of a VPC endpoint. */
  endpoint: string | null;
}

export interface SesOptions extends SesAccess {
  /** The configuration set of mail that is tracked, and of mail that is not; null for none. */
  configurationSet: string | null;
  configurationSetWithoutTracking: string | null;
  /** Calls of this process at once. */
  connections: number;
  /** Whether events of Amazon SES come back, so that they can prove a message whose answer was lost. */
  reported: boolean;
  journal: HandoverJournal;
  log: { info(facts: object, text: string): void; warn(facts: object, text: string): void };
  /** How long a message may take with all its tries, in milliseconds; 40,000 when absent. */
  timeoutMs?: number;
}

// https://docs.aws.amazon.com/ses/latest/dg/quotas.html: 40 MB after encoding.
const maxMessageBytes = 40 * 1024 * 1024;
const proofMs = 3 * 60_000;
const throttledMs = 1000;
// How often a message is offered that was refused for its speed.
const tries = 4;
const giveUpMs = 10_000;
const rateKeptMs = 10 * 60_000;

/** A client of Amazon SES that never repeats a call by itself: SES has no way to tell a repetition. */
export function createSesClient({ region, credentials, endpoint }: SesAccess, connections = 5): SESv2Client {
  return new SESv2Client({
    region,
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 10_000,
      httpsAgent: { maxSockets: connections },
      httpAgent: { maxSockets: connections },
    },
    ...(credentials === null ? {} : { credentials }),
    ...(endpoint === null ? {} : { endpoint }),
  });
}

/** The mailer over Amazon SES, API version 2: raw messages, one in a call, at the rate that the account may send. */
export function createSesMailer(options: SesOptions): Mailer {
  const client = createSesClient(options, options.connections);
  const limiter = createConnectionLimiter(options.connections);
  const abortSignal = () => AbortSignal.timeout(options.timeoutMs ?? 40_000);
  let rateAskedAt = -Infinity;
  const followRate = async () => {
    if (performance.now() - rateAskedAt < rateKeptMs) return;
    rateAskedAt = performance.now();
    try {
      const { SendQuota } = await client.send(new GetAccountCommand({}), { abortSignal: abortSignal() });
      limiter.limit(SendQuota?.MaxSendRate ?? null);
    } catch (error) {
      options.log.warn({ err: error }, 'Amazon SES did not tell how fast this account may send');
    }
  };
  const { journal, log } = options;
  return createSingleMailer(
    {
      name: 'ses',
      refusedExtensions: refusedBySes,
      maxMessageBytes,
      proofMs: options.reported ? proofMs : 0,
      // Links of recipients are not to be counted; SES takes its own word for that out again.
      prepare: (message) => ({
        ...message,
        html: String(message.html).replaceAll(' data-pm-no-track', ' ses:no-track'),
      }),
      async handOver(message, mime) {
        void followRate();
        const began = performance.now();
        const signal = abortSignal();
        for (let attempt = 1; ; attempt += 1) {
          try {
            return taken(await client.send(command(options, message, mime), { abortSignal: signal }));
          } catch (error) {
            const failure = readSesFailure(error);
            if (!failure.throttled) return failure.verdict;
            limiter.rest(throttledMs);
            // A refused message was not sent, so giving up is safe at this point and at no other.
            if (attempt >= tries || performance.now() - began > giveUpMs)
              return { kind: 'retry', reason: failure.reason, afterMs: throttledMs, scope: 'call' };
            await pause(throttledMs * (0.75 + Math.random() / 2));
          }
        }
      },
    },
    { journal, log, limiter },
  );
}

function command(options: SesOptions, message: OutgoingMessage, mime: Buffer): SendEmailCommand {
  const withoutTracking = options.configurationSetWithoutTracking ?? options.configurationSet;
  const set = message.tracking ? options.configurationSet : withoutTracking;
  return new SendEmailCommand({
    FromEmailAddress: message.from.address,
    Destination: { ToAddresses: [message.to.address] },
    Content: { Raw: { Data: mime } },
    ...(set === null ? {} : { ConfigurationSetName: set }),
    EmailTags: [
      { Name: 'eid', Value: message.emailId },
      { Name: 'pid', Value: message.projectId },
      { Name: 'source', Value: message.tag },
    ],
  });
}

function taken({ MessageId }: { MessageId?: string | undefined }): Verdict {
  if (!MessageId) return { kind: 'unknown', reason: 'Amazon SES took the message without naming it' };
  return { kind: 'accepted', messageId: MessageId, at: new Date().toISOString() };
}
