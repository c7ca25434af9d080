import type { Logger } from 'pino';
import { queueMemberMails, type TellMembers } from '../../accounts/system-mail/service.ts';
import type { DomainProvider, Mailer } from '../../domains/providers/mailer.ts';
import { createPostmarkDomains, createPostmarkMailer } from '../../domains/providers/postmark/postmark.ts';
import type { SesAccess } from '../../domains/providers/ses/ses.ts';
import { createSmtpMailer } from '../../domains/providers/smtp/smtp.ts';
import { smtpAccess } from '../../domains/providers/smtp/smtp-session.ts';
import { signingKey } from '../../domains/queries.ts';
import { type DnsLookup, dnsLookup } from '../../domains/records/findings.ts';
import type { Config } from '../../lib/config/config.ts';
import { createJournal } from '../../mail/providers/journal.ts';
import type { Database } from '../../store/sql.ts';

const megabyte = 1024 * 1024;

/** The delivery provider that the settings choose. The sandbox speaks Postmark's API and takes larger messages. */
export async function createMailer(config: Config, log: Logger, sql: Database): Promise<Mailer> {
  const { mailProvider } = config;
  if (mailProvider === 'ses') return sesMailer(config, log, sql);
  if (mailProvider === 'smtp') return smtpMailer(config, log, sql);
  return createPostmarkMailer({
    serverToken: config.POSTMARK_SERVER_TOKEN,
    apiUrl: config.POSTMARK_API_URL,
    streams: { transactional: config.POSTMARK_STREAM_TRANSACTIONAL, broadcast: config.POSTMARK_STREAM_BROADCAST },
    log,
    name: mailProvider,
    timeouts: { send: config.PROVIDER_TIMEOUT_SECONDS * 1000 },
    ...(mailProvider === 'sandbox' ? { maxMessageBytes: 40 * megabyte } : {}),
  });
}

async function sesMailer(config: Config, log: Logger, sql: Database): Promise<Mailer> {
  // A process that uses another provider does not carry Amazon's SDK.
  const { createSesMailer } = await import('../../domains/providers/ses/ses.ts');
  return createSesMailer({
    ...sesAccess(config),
    configurationSet: config.SES_CONFIGURATION_SET,
    configurationSetWithoutTracking: config.SES_CONFIGURATION_SET_NO_TRACKING,
    connections: config.PROVIDER_CONNECTIONS,
    reported: config.SNS_TOPIC_ARNS.length > 0,
    journal: createJournal(sql, log),
    log,
  });
}

function sesAccess(config: Config): SesAccess {
  const { AWS_SES_ACCESS_KEY_ID: accessKeyId, AWS_SES_SECRET_ACCESS_KEY: secretAccessKey } = config;
  return {
    region: config.AWS_SES_REGION ?? '',
    credentials: accessKeyId === null || secretAccessKey === null ? null : { accessKeyId, secretAccessKey },
    endpoint: config.AWS_SES_ENDPOINT,
  };
}

function smtpMailer(config: Config, log: Logger, sql: Database): Mailer {
  return createSmtpMailer({
    ...smtpAccess(config.SMTP_URL ?? '', config.SMTP_REQUIRE_TLS),
    connections: config.PROVIDER_CONNECTIONS,
    maxMessageBytes: config.SMTP_MAX_MESSAGE_MB * megabyte,
    keyOf: (domain) => signingKey(sql, config.encryptionKeys, domain),
    journal: createJournal(sql, log),
    log,
  });
}

/**
 * The provider's register of domains; null where there is none: with an SMTP server, or when a real Postmark's account
 * token is not set.
 */
export async function createDomainProvider(config: Config): Promise<DomainProvider | null> {
  if (config.mailProvider === 'smtp') return null;
  if (config.mailProvider === 'ses') {
    const { createSesDomains } = await import('../../domains/providers/ses/ses-domains.ts');
    return createSesDomains(sesAccess(config), config.MAIL_FROM_SUBDOMAIN);
  }
  const accountToken = config.POSTMARK_ACCOUNT_TOKEN ?? (config.mailProvider === 'sandbox' ? 'sandbox' : null);
  if (accountToken === null) return null;
  return createPostmarkDomains({
    accountToken,
    apiUrl: config.POSTMARK_API_URL,
    returnPathLabel: config.MAIL_FROM_SUBDOMAIN,
  });
}

/** Deletes messages to an address at the sandbox; null with providers whose own retention removes them. */
export function createMessageEraser(config: Config): ((address: string) => Promise<number>) | null {
  if (config.mailProvider !== 'sandbox') return null;
  return async (address) => {
    const url = new URL(`/api/messages?recipient=${encodeURIComponent(address)}`, config.POSTMARK_API_URL);
    const answer = await fetch(url, { method: 'DELETE', signal: AbortSignal.timeout(30_000) });
    if (!answer.ok) throw new Error(`The mail sandbox answered ${answer.status} when it was asked to delete messages`);
    return ((await answer.json()) as { deleted: number }).deleted;
  };
}

/** Names the chosen provider and where it is, without secrets. */
export function describeMail(config: Config): string {
  switch (config.mailProvider) {
    case 'sandbox':
      return `the sandbox at ${config.POSTMARK_API_URL}`;
    case 'postmark':
      return `Postmark at ${config.POSTMARK_API_URL}, streams ${config.POSTMARK_STREAM_TRANSACTIONAL} and ${config.POSTMARK_STREAM_BROADCAST}`;
    case 'ses':
      return `Amazon SES in ${config.AWS_SES_REGION}`;
    case 'smtp': {
      const { host, port } = smtpAccess(config.SMTP_URL ?? '', null);
      return `the SMTP server ${host}:${port}`;
    }
  }
}

/** Returns warnings about the chosen provider: that no reports about mail will come, and why. Empty when all is well. */
export function mailWarnings(config: Config): string[] {
  const { mailProvider: provider } = config;
  const warnings: string[] = [];
  if (provider === 'postmark' && config.POSTMARK_WEBHOOK_USER === null && config.POSTMARK_WEBHOOK_TOKEN === null)
    warnings.push(
      'neither POSTMARK_WEBHOOK_USER nor POSTMARK_WEBHOOK_TOKEN is set: webhooks of Postmark are refused, and nothing is heard of mail',
    );
  if (provider === 'ses' && config.SNS_TOPIC_ARNS.length === 0)
    warnings.push('SNS_TOPIC_ARNS is not set: messages of Amazon SNS are refused, and nothing is heard of mail');
  if (provider === 'ses' && config.SES_CONFIGURATION_SET === null)
    warnings.push('SES_CONFIGURATION_SET is not set: opens and clicks are not counted');
  if (provider === 'smtp')
    warnings.push('mail goes to an SMTP server: deliveries, opens, clicks, bounces and complaints are never heard of');
  return warnings;
}

/** Look-ups of the records of sender domains; null with the sandbox, for whose domains nobody sets any. */
export function createDomainLookup(config: Config): DnsLookup | null {
  return config.mailProvider === 'sandbox' ? null : dnsLookup(config.DNS_SERVERS);
}

/** Mail of the service to the members of a project. */
export function createTellMembers(config: Config): TellMembers {
  return (sql, { path, ...mail }) => queueMemberMails(sql, config, { ...mail, link: `${config.DASHBOARD_URI}${path}` });
}
