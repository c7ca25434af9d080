import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Mailer } from '../delivery/mailer.ts';
import { createPostmarkMailer } from '../delivery/postmark.ts';
import { createPostmarkDomains } from '../delivery/postmark-domains.ts';
import type { TellMembers } from '../domains/checks.ts';
import { type DnsLookup, dnsLookup } from '../domains/dns.ts';
import type { DomainProvider } from '../domains/provider.ts';
import { queueMemberMails } from '../system-mail/service.ts';

const megabyte = 1024 * 1024;

/** The delivery provider that the settings choose. The sandbox speaks Postmark's API and takes larger messages. */
export function createMailer(config: Config, log: Logger): Mailer {
  const sandbox = config.mailProvider === 'sandbox';
  return createPostmarkMailer({
    serverToken: config.POSTMARK_SERVER_TOKEN,
    apiUrl: config.POSTMARK_API_URL,
    streams: { transactional: config.POSTMARK_STREAM_TRANSACTIONAL, broadcast: config.POSTMARK_STREAM_BROADCAST },
    log,
    name: config.mailProvider,
    ...(sandbox ? { maxMessageBytes: 40 * megabyte } : {}),
  });
}

/** The provider's register of domains; null when a real provider's account token is not set. */
export function createDomainProvider(config: Config): DomainProvider | null {
  const accountToken = config.POSTMARK_ACCOUNT_TOKEN ?? (config.mailProvider === 'sandbox' ? 'sandbox' : null);
  if (accountToken === null) return null;
  return createPostmarkDomains({
    accountToken,
    apiUrl: config.POSTMARK_API_URL,
    returnPathLabel: config.MAIL_FROM_SUBDOMAIN,
  });
}

/** Look-ups of the records of sender domains; null with the sandbox, for whose domains nobody sets any. */
export function createDomainLookup(config: Config): DnsLookup | null {
  return config.mailProvider === 'sandbox' ? null : dnsLookup(config.DNS_SERVERS);
}

/** Mail of the service to the members of a project. */
export function createTellMembers(config: Config): TellMembers {
  return (sql, { path, ...mail }) => queueMemberMails(sql, config, { ...mail, link: `${config.DASHBOARD_URI}${path}` });
}
