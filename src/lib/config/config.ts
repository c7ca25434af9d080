import * as v from 'valibot';
import {
  dependentSecrets,
  deriveSecret,
  productionProblems,
  productionSecretProblems,
  reachesPeople,
} from './secrets.ts';
import { neededByProvider, type SettingValues, settings } from './settings.ts';

const introduction = `# Settings

Settings are read from the environment once, at the start. An invalid value stops the process with a line that names it.
An empty value counts as unset.
`;

/** The page of the documentation that lists every setting, as Markdown: a table for each group. */
export function settingsPage(): string {
  const groups = new Map<string, string[]>();
  for (const [name, { group, shownDefault, meaning }] of Object.entries(settings)) {
    const rows = groups.get(group) ?? [];
    rows.push(`| \`${name}\` | ${shownDefault === '' ? '' : `\`${shownDefault}\``} | ${meaning} |`);
    groups.set(group, rows);
  }
  const tables = [...groups].map(
    ([group, rows]) => `\n## ${group}\n\n| Setting | Default | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`,
  );
  return introduction + tables.join('');
}

/** Settings as the service uses them: parsed, with the values that depend on others filled in. */
export type Config = Readonly<ReturnType<typeof complete>>;

/** Problems of the environment: one line for each setting, each naming it. */
export class ConfigError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The settings are not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Names of settings a process cannot run without. */
export type RequiredSetting = 'DATABASE_URL' | 'TEMPORAL_ADDRESS';

/**
 * Reads every setting from the environment; an empty value counts as unset.
 * @throws ConfigError naming each setting that is wrong or missing
 */
export function readConfig(env: Record<string, string | undefined>, required: readonly RequiredSetting[] = []): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const text = env[name]?.trim() ?? '';
    if (text === '') {
      values[name] = setting.fallback;
      continue;
    }
    const parsed = v.safeParse(setting.schema as v.GenericSchema<string, unknown>, text);
    if (parsed.success) values[name] = parsed.output;
    else problems.push(`${name} ${parsed.issues[0].message}`);
  }
  const parsed = values as SettingValues;
  for (const name of required) {
    if (parsed[name] === null && !problems.some((problem) => problem.startsWith(`${name} `)))
      problems.push(`${name} is required: this process starts nothing else (npm start does)`);
  }
  problems.push(...missingCompanions(parsed));
  if (problems.length > 0) throw new ConfigError(problems);
  const config = complete(parsed);
  const unsafe = config.NODE_ENV === 'production' ? productionProblems(parsed, config, config.mailProvider) : [];
  if (unsafe.length > 0) throw new ConfigError(unsafe);
  return Object.freeze(config);
}

const pairs = [
  ['TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'],
  ['SMTP_IN_TLS_CERT', 'SMTP_IN_TLS_KEY'],
  ['POSTMARK_WEBHOOK_USER', 'POSTMARK_WEBHOOK_PASSWORD'],
  ['AWS_SES_ACCESS_KEY_ID', 'AWS_SES_SECRET_ACCESS_KEY'],
  ['STRIPE_SK', 'STRIPE_WEBHOOK_SECRET'],
  ['GITHUB_OAUTH_CLIENT', 'GITHUB_OAUTH_SECRET'],
  ['GOOGLE_OAUTH_CLIENT', 'GOOGLE_OAUTH_SECRET'],
  ['FIRST_PROJECT_PUBLIC_KEY', 'FIRST_PROJECT_SECRET_KEY'],
] as const;
/** The first of each needs the second. */
const needs: readonly (readonly [keyof SettingValues, keyof SettingValues])[] = [
  ...pairs.flatMap(([one, other]) => [[one, other] as const, [other, one] as const]),
  ['STRIPE_SK', 'STRIPE_PRICE_EMAIL_USAGE'],
  ['JWT_SECRET_PREVIOUS', 'JWT_SECRET'],
  ['TEMPORAL_CODEC_KEY_PREVIOUS', 'TEMPORAL_CODEC_KEY'],
];

function missingCompanions(values: SettingValues): string[] {
  const problems = needs
    .filter(([one, other]) => values[one] !== null && values[other] === null)
    .map(([one, other]) => `${other} is missing: ${one} is set and needs it`);
  const provider = values.MAIL_PROVIDER;
  if (provider !== null && provider !== 'sandbox' && values[neededByProvider[provider]] === null)
    problems.push(`${neededByProvider[provider]} is missing: MAIL_PROVIDER is ${provider} and needs it`);
  if (provider === 'sandbox' && values.POSTMARK_SERVER_TOKEN !== null)
    problems.push('MAIL_PROVIDER is sandbox: unset POSTMARK_SERVER_TOKEN, which the sandbox must never see');
  if (storageDriverOf(values) === 's3')
    for (const name of ['S3_ACCESS_KEY_ID', 'S3_ACCESS_KEY_SECRET', 'S3_PUBLIC_URL'] as const)
      if (values[name] === null) problems.push(`${name} is missing: uploads with the driver s3 need it`);
  // The undo of an import asks what has happened to a contact since.
  for (const name of ['EMAIL_RETENTION_DAYS', 'EVENT_RETENTION_DAYS', 'RUN_RETENTION_DAYS'] as const)
    if (values[name] !== null && values[name] < values.CONTACT_HISTORY_DAYS)
      problems.push(`${name} must not be below CONTACT_HISTORY_DAYS, which is ${values.CONTACT_HISTORY_DAYS}`);
  if (values.NODE_ENV === 'production') problems.push(...productionSecretProblems(values));
  return problems;
}

function storageDriverOf(values: SettingValues): 'local' | 's3' {
  return values.STORAGE_DRIVER ?? (values.S3_ACCESS_KEY_ID === null ? 'local' : 's3');
}

function complete(values: SettingValues) {
  const publicUrl = values.PUBLIC_URL ?? `http://localhost:${values.PORT}`;
  const apiUri = values.API_URI ?? publicUrl;
  const secrets = dependentSecrets(values);
  const mailProvider = values.MAIL_PROVIDER ?? (values.POSTMARK_SERVER_TOKEN === null ? 'sandbox' : 'postmark');
  const sandbox = mailProvider === 'sandbox';
  const sandboxUrl = values.SANDBOX_URL ?? `http://localhost:${values.SANDBOX_PORT}`;
  const mailLeaves = reachesPeople(mailProvider, values);
  const billingEnabled = values.STRIPE_SK !== null && values.STRIPE_WEBHOOK_SECRET !== null;
  return {
    ...values,
    PUBLIC_URL: publicUrl,
    API_URI: apiUri,
    DASHBOARD_URI: values.DASHBOARD_URI ?? publicUrl,
    ...secrets,
    TEMPORAL_TASK_QUEUE: values.TEMPORAL_TASK_QUEUE ?? 'fernpost',
    /** Whether TEMPORAL_TASK_QUEUE is set; where it is not, `withOwnQueues` finds the queues of the installation. */
    namesQueues: values.TEMPORAL_TASK_QUEUE !== null,
    POSTMARK_SERVER_TOKEN: values.POSTMARK_SERVER_TOKEN ?? 'sandbox',
    // Only Postmark writes headers of its own.
    POSTMARK_UNSUBSCRIBES: sandbox || mailProvider === 'postmark' ? values.POSTMARK_UNSUBSCRIBES : 'self',
    POSTMARK_API_URL: values.POSTMARK_API_URL ?? (sandbox ? sandboxUrl : 'https://api.postmarkapp.com'),
    POSTMARK_WEBHOOK_USER: values.POSTMARK_WEBHOOK_USER ?? (sandbox ? 'fernpost' : null),
    POSTMARK_WEBHOOK_PASSWORD:
      values.POSTMARK_WEBHOOK_PASSWORD ?? (sandbox ? deriveSecret(secrets.JWT_SECRET, 'sandbox webhooks') : null),
    SANDBOX_URL: sandboxUrl,
    SANDBOX_INBOX_URL: values.SANDBOX_INBOX_URL ?? sandboxUrl,
    SANDBOX_WEBHOOK_URL: values.SANDBOX_WEBHOOK_URL ?? `${apiUri}/webhooks/postmark`,
    REQUIRE_EMAIL_VERIFICATION: values.REQUIRE_EMAIL_VERIFICATION ?? !sandbox,
    WEBHOOK_ALLOWED_HOSTS: values.WEBHOOK_ALLOWED_HOSTS ?? (isOwnTrial(values, mailProvider) ? loopbackHosts : []),
    TEMPORAL_UI_URL: values.TEMPORAL_UI_URL ?? `http://localhost:${values.TEMPORAL_UI_PORT}`,
    ...smtpPorts(values, mailProvider),
    SMTP_IN_HOST: values.SMTP_IN_HOST ?? values.HOST,
    BACKUP_RETENTION_DAYS: values.BACKUP_RETENTION_DAYS ?? (sandbox ? 0 : 14),
    PROVIDER_RETENTION_DAYS: values.PROVIDER_RETENTION_DAYS ?? (mailProvider === 'postmark' ? 45 : 0),
    mailProvider,
    /** Whether mail reaches people: neither the sandbox nor a stand-in on this machine. */
    mailLeaves,
    /** Emails a day of a project that is not trusted; null for no limit. */
    publicDailyEmails: mailLeaves && values.PUBLIC_PROJECT_DAILY_EMAILS > 0 ? values.PUBLIC_PROJECT_DAILY_EMAILS : null,
    /** Whether domains of projects that are not trusted wait for the operator. */
    holdsPublicDomains: mailLeaves && values.PUBLIC_DOMAINS_NEED_APPROVAL,
    /** Where uploaded images are kept. */
    storageDriver: storageDriverOf(values),
    /** Whether Stripe is set up. */
    billingEnabled,
    /** Mails a month of a project that does not pay; null where billing is not enabled. */
    freeTier: billingEnabled ? values.FREE_TIER_MONTHLY_EMAILS : null,
  };
}

type MailProvider = NonNullable<SettingValues['MAIL_PROVIDER']>;

const loopbackHosts = ['localhost', '127.0.0.1', '::1'];

function isTrialOf(values: SettingValues, mailProvider: MailProvider): boolean {
  return values.NODE_ENV === 'development' && !reachesPeople(mailProvider, values);
}

// Where others can sign up, webhooks to loopback would reach what listens beside the service.
function isOwnTrial(values: SettingValues, mailProvider: MailProvider): boolean {
  return isTrialOf(values, mailProvider) && loopbackHosts.includes(values.HOST);
}

// A port that is open without being asked for is one on a developer's machine.
function smtpPorts(values: SettingValues, mailProvider: MailProvider) {
  const hasTls = values.SMTP_IN_TLS_CERT !== null;
  const isTrial = isTrialOf(values, mailProvider);
  return {
    SMTP_IN_PORT: (values.SMTP_IN_PORT ?? (hasTls ? 587 : isTrial ? 2525 : 0)) || null,
    SMTP_IN_TLS_PORT: (values.SMTP_IN_TLS_PORT ?? (hasTls ? 465 : 0)) || null,
  };
}

/** Reads the environment or prints one line for each problem and ends the process with status 1. */
export function readConfigOrExit(required: readonly RequiredSetting[] = []): Config {
  try {
    return readConfig(process.env, required);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems) console.error(`fernpost: ${problem}`);
    process.exit(1);
  }
}
