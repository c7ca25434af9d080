import * as v from 'valibot';

/** One setting: how its text is read, its default, and the sentence that docs/settings.md shows. */
interface Setting<Output> {
  schema: v.GenericSchema<string, Output>;
  fallback: Output;
  shownDefault: string;
  meaning: string;
}

const integer = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(/^-?\d+$/, 'must be a whole number'),
    v.transform(Number),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );
const port = integer(1, 65535);
const ratio = v.pipe(
  v.string(),
  v.regex(/^\d+(\.\d+)?$/, 'must be a number'),
  v.transform(Number),
  v.maxValue(1, 'must be at most 1'),
);
const text = v.string();
const flag = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.picklist(['true', 'false', '1', '0', 'yes', 'no'], 'must be true or false'),
  v.transform((word) => word === 'true' || word === '1' || word === 'yes'),
);
const oneOf = <const Words extends readonly string[]>(...words: Words) =>
  v.picklist(words, `must be one of ${words.join(', ')}`) as unknown as v.GenericSchema<string, Words[number]>;
const httpUrl = v.pipe(
  v.string(),
  v.check((value) => {
    const url = URL.parse(value);
    return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
  }, 'must be a URL that begins with http:// or https://'),
  v.transform((value) => value.replace(/\/+$/, '')),
);
const smtpUrl = v.pipe(
  v.string(),
  v.check((value) => {
    const url = URL.parse(value);
    return url !== null && (url.protocol === 'smtp:' || url.protocol === 'smtps:') && url.hostname !== '';
  }, 'must be a URL like smtp://user:password@host:587'),
);
const postgresUrl = v.pipe(
  v.string(),
  v.check(
    (value) => /^postgres(ql)?:$/.test(URL.parse(value)?.protocol ?? ''),
    'must be a URL like postgres://user:password@host:5432/name',
  ),
);
const list = v.pipe(
  v.string(),
  v.transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  ),
);
const instant = v.pipe(
  v.string(),
  v.isoTimestamp('must be an instant like 2026-01-15T10:30:00Z'),
  v.transform((value) => new Date(value)),
  v.check((value) => value.getTime() < Date.now(), 'must not be in the future'),
  v.transform((value) => value.toISOString()),
);
const buildId = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z0-9][\w.+-]{0,99}$/,
    'must be up to 100 letters, digits and . _ + -, and begin with a letter or a digit',
  ),
);
const hostAndPort = v.pipe(v.string(), v.regex(/^[^\s:/]+:\d{1,5}$/, 'must be host:port without a scheme'));
const secret = v.pipe(v.string(), v.minLength(32, 'must have at least 32 characters'));
const resolvers = v.pipe(
  list,
  v.everyItem(
    (item) => /^(\d{1,3}(\.\d{1,3}){3}(:\d{1,5})?|\[[0-9a-f:.]+\](:\d{1,5})?|[0-9a-f:.]+)$/i.test(item),
    'must list IP addresses, each with an optional port',
  ),
);
const email = v.pipe(v.string(), v.email('must be an email address'));

function setting<Output>(
  schema: v.GenericSchema<string, Output>,
  fallback: Output,
  meaning: string,
  shownDefault = fallback === null ? '' : String(fallback),
): Setting<Output> {
  return { schema, fallback, meaning, shownDefault };
}
const optional = <Output>(schema: v.GenericSchema<string, Output>, meaning: string, shownDefault?: string) =>
  setting<Output | null>(schema, null, meaning, shownDefault);

const group = <Entries extends Record<string, Setting<unknown>>>(name: string, entries: Entries) =>
  Object.fromEntries(Object.entries(entries).map(([key, entry]) => [key, { ...entry, group: name }])) as {
    [Name in keyof Entries]: Entries[Name] & { group: string };
  };
const noItems: string[] = [];

/** Every setting of the service. An empty value counts as unset. docs/settings.md is made from this object. */
export const settings = {
  ...group('Core', {
    NODE_ENV: setting(
      oneOf('development', 'production', 'test'),
      'development',
      '`production` requires real secrets and hardens cookies.',
    ),
    HOST: setting(text, '127.0.0.1', 'Address the API listens on.'),
    PORT: setting(port, 3000, 'Port of the API.'),
    PUBLIC_URL: optional(httpUrl, 'Base of the links in emails and of the recipient pages.', 'http://localhost:$PORT'),
    API_URI: optional(httpUrl, 'Base of the API where it is split from the dashboard.', 'PUBLIC_URL'),
    DASHBOARD_URI: optional(httpUrl, 'Base of the dashboard where it is split from the API.', 'PUBLIC_URL'),
    LANDING_URI: optional(httpUrl, 'Page of the product, named in `/config`.', 'DASHBOARD_URI'),
    WIKI_URI: optional(httpUrl, 'URL of the documentation, named in `/config`.'),
    CORS_EXTRA_ORIGINS: setting(
      list,
      noItems,
      'Comma-separated list of further origins whose pages may call the dashboard API.',
    ),
    SHUTDOWN_GRACE_SECONDS: setting(
      integer(1, 3_600),
      15,
      'How long requests in progress may take after SIGTERM before they are cut off. Under `npm start` 6, so that everything stops within 15.',
    ),
    TRUST_PROXY: setting(integer(0, 10), 0, 'Number of proxies in front that are trusted to name the client address.'),
    LOG_LEVEL: setting(
      oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
      'info',
      'Minimum severity of log lines.',
    ),
    API_METRICS_PORT: optional(port, 'Port on which an API process serves `/metrics` (and `/health`).'),
    WORKER_METRICS_PORT: optional(port, 'Port on which a worker serves `/metrics` and `/health`.'),
    METRICS_HOST: optional(text, 'Address these two ports listen on.', 'HOST'),
    METRICS_TOKEN: optional(
      secret,
      'Also serves `/metrics` on the port of the API, for requests with `Authorization: Bearer` and this token.',
    ),
    OTEL_EXPORTER_OTLP_ENDPOINT: optional(
      httpUrl,
      'Base address of an OpenTelemetry collector (OTLP over HTTP, such as `http://localhost:4318`). Traces are recorded only when it is set.',
    ),
    OTEL_SERVICE_NAME: setting(text, 'fernpost', 'Name of the service in traces.'),
    OTEL_TRACES_SAMPLER: setting(
      oneOf(
        'always_on',
        'always_off',
        'traceidratio',
        'parentbased_always_on',
        'parentbased_always_off',
        'parentbased_traceidratio',
      ),
      'parentbased_always_on',
      'Which requests are traced. Those that begin with `parentbased_` follow the `traceparent` of the caller.',
    ),
    OTEL_TRACES_SAMPLER_ARG: setting(
      ratio,
      1,
      'Share of the traces for the samplers that end in `traceidratio`: 0.01 is one in a hundred.',
    ),
    DATA_DIR: setting(text, '.data', 'Where `npm start` stores its data and the sandbox its messages.'),
    START_SEPARATE_PROCESSES: setting(
      flag,
      false,
      'Whether `npm start` runs API, worker, SMTP submission and sandbox in a process each: they use more than one core, and 250 MB more.',
    ),
  }),
  ...group('Postgres', {
    DATABASE_URL: optional(postgresUrl, 'Postgres 15 or later. `npm start` runs its own when this is unset.'),
    DIRECT_DATABASE_URL: optional(
      postgresUrl,
      'Postgres without a pooler in between, for migrations and notifications.',
      'DATABASE_URL',
    ),
    DATABASE_POOL_SIZE: setting(integer(2, 200), 10, 'Connections of one process.'),
    DATABASE_POOL_TIMEOUT: setting(
      integer(1, 600),
      5,
      'Seconds a request waits for a connection to Postgres before it gets 503.',
    ),
    DATABASE_LOCK_TIMEOUT: setting(
      integer(0, 3600),
      10,
      'Seconds a statement of a request waits for a lock before the request gets 503. 0 turns it off.',
    ),
    DATABASE_STATEMENT_TIMEOUT: setting(
      integer(0, 3600),
      30,
      'Seconds a statement of a request may take before the request gets 503. 0 turns it off.',
    ),
    HEAVY_READ_CONNECTIONS: setting(
      integer(1, 100),
      4,
      'Further connections of one API process, for what reads or counts much of a project’s data: previews, counts, exports, analytics, explanations.',
    ),
    HEAVY_READS_PER_PROJECT: setting(
      integer(1, 100),
      2,
      'How many of those connections one project uses at once, and only one after a second of reading without a pause; fifty times as many reads wait, further ones get 429.',
    ),
    HEAVY_READ_TIMEOUT: setting(
      integer(1, 3600),
      10,
      'Seconds such a read may take before its request gets 503, and may wait for its turn before it gets 429.',
    ),
    READY_ON_NEWER_SCHEMA: setting(
      flag,
      false,
      '`/ready` ignores migrations that this release does not know, for zero-downtime deploys.',
    ),
    POSTGRES_PORT: setting(port, 54330, 'Port of the Postgres that `npm start` runs.'),
  }),
  ...group('Temporal', {
    TEMPORAL_ADDRESS: optional(
      hostAndPort,
      'Temporal frontend. `npm start` runs a development server when this is unset.',
    ),
    TEMPORAL_NAMESPACE: setting(text, 'default', 'Namespace of all executions.'),
    TEMPORAL_TASK_QUEUE: optional(
      text,
      'Prefix of the task queue names. An installation with the queues of the earlier name keeps them while this is unset.',
      'fernpost',
    ),
    TEMPORAL_API_KEY: optional(text, 'API key of Temporal Cloud; turns TLS on.'),
    TEMPORAL_API_KEY_FILE: optional(
      text,
      'File with the API key, in place of TEMPORAL_API_KEY. It is read again every half minute, as the files of certificates are.',
    ),
    TEMPORAL_TLS: setting(flag, false, 'Connect with TLS.'),
    TEMPORAL_TLS_CA: optional(text, 'File with the certificate authority of the server.'),
    TEMPORAL_TLS_CERT: optional(text, 'File with the client certificate (mTLS).'),
    TEMPORAL_TLS_KEY: optional(text, 'File with the key of the client certificate (mTLS).'),
    TEMPORAL_TLS_SERVER_NAME: optional(text, 'Name to expect in the server certificate.'),
    TEMPORAL_CLI: optional(text, 'Path of the `temporal` program that `npm start` runs.'),
    TEMPORAL_PORT: setting(port, 7233, 'Port of the Temporal that `npm start` runs.'),
    TEMPORAL_UI_PORT: setting(port, 8233, 'Port of its Web UI.'),
    TEMPORAL_UI_URL: optional(httpUrl, 'Base of the Temporal Web UI, for links.', 'http://localhost:$TEMPORAL_UI_PORT'),
    TEMPORAL_SETUP: setting(
      flag,
      true,
      'API and workers create what is missing in the Temporal store, as `npm run migrate` does; when false they only log it.',
    ),
    TEMPORAL_BUILD_ID: optional(
      buildId,
      'Names the release that a worker runs, another one for each: a new release then takes over from the workers of the old one while they still run. Unset, releases of workers must not run side by side.',
    ),
    TEMPORAL_SHARED_WORKFLOW_THREAD: setting(
      flag,
      true,
      "Whether a worker runs the workflows of all task queues in one thread, which saves 45 MB for each queue and most of the processor time of workflows, and uses private modules of Temporal's SDK. With `false`, or with a version of the SDK that lacks them, each queue has a thread of its own, and **Call Stack** of the Temporal Web UI works.",
    ),
    TEMPORAL_SHOW_EMAILS: setting(flag, false, 'Put email addresses into memos of executions.'),
    TEMPORAL_CODEC_KEY: optional(
      secret,
      'Encrypts inputs, results and memos that Temporal stores; search attributes stay unencrypted.',
    ),
    TEMPORAL_CODEC_KEY_PREVIOUS: optional(
      secret,
      'The TEMPORAL_CODEC_KEY before the current one: what it encrypted can still be read.',
    ),
  }),
  ...group('Secrets', {
    JWT_SECRET: optional(secret, 'Signs sessions. Required in production.', 'a fixed development secret'),
    JWT_SECRET_PREVIOUS: optional(
      secret,
      'The JWT_SECRET before the current one, during a rotation: its sessions and the keys derived from it stay valid.',
    ),
    APP_ENCRYPTION_KEY: optional(
      secret,
      'Encrypts stored API keys, DKIM keys and the mail of the service.',
      'derived from JWT_SECRET',
    ),
    APP_ENCRYPTION_KEY_PREVIOUS: optional(
      secret,
      'The APP_ENCRYPTION_KEY before the current one; `npm run secrets -- reencrypt` makes it unnecessary.',
    ),
    LINK_SECRET: optional(
      secret,
      'Signs the links of recipients; links sent before a change stop working, unless LINK_SECRET_PREVIOUS has the old one.',
      'derived from JWT_SECRET',
    ),
    LINK_SECRET_PREVIOUS: optional(
      secret,
      'The LINK_SECRET before the current one: links in mail that was sent stay valid.',
    ),
    RECIPIENT_LINKS_UNSIGNED: setting(
      flag,
      false,
      'Accept unsigned recipient links for everything, for links that another service has sent.',
    ),
  }),
  ...group('Accounts', {
    PROJECTS_PER_OWNER: setting(
      integer(0, 1_000_000),
      20,
      'Projects of which one person may be the owner before creating another is refused; existing ones stay. 0 is no limit.',
    ),
    DISABLE_SIGNUPS: setting(
      flag,
      false,
      'Closes sign-ups; existing accounts and invitations are not affected. Every deployment template sets it to true.',
    ),
    PUBLIC_DOMAINS_NEED_APPROVAL: setting(
      flag,
      true,
      'With a real mail provider: sender domains of projects whose owner signed up without an operator need approval (`npm run project -- approve`) before they can send.',
    ),
    PUBLIC_PROJECT_DAILY_EMAILS: setting(
      integer(0, 1_000_000_000),
      200,
      'With a real mail provider: emails a day (UTC) of each such project, until an operator approves it; 0 turns it off.',
    ),
    VERIFY_EMAIL_ON_SIGNUP: setting(
      flag,
      false,
      'Refuse sign-ups with disposable or plus addresses, and domains that accept no mail.',
    ),
    REQUIRE_EMAIL_VERIFICATION: optional(
      flag,
      'Accounts with a password must confirm their address before they can do anything.',
      'true with a real mail provider, false with the sandbox',
    ),
    LOGIN_RATE_LIMIT_PER_EMAIL: setting(
      integer(1, 1_000_000),
      5,
      'Failed sign-ins of one address in a window; further attempts are refused, even with the right password.',
    ),
    LOGIN_RATE_LIMIT_PER_IP: setting(
      integer(0, 1_000_000),
      100,
      'Failed sign-ins from one network (an IPv4 address or an IPv6 /64) in a window; 0 turns it off.',
    ),
    LOGIN_RATE_LIMIT_WINDOW: setting(integer(1, 86_400), 900, 'Length of that window in seconds.'),
    SIGNUP_RATE_LIMIT_PER_IP: setting(
      integer(0, 1_000_000),
      10,
      'Sign-ups from one network address in an hour; 0 turns it off.',
    ),
    GITHUB_OAUTH_CLIENT: optional(text, 'Client id of the OAuth app at GitHub. Unset: no sign-in with GitHub.'),
    GITHUB_OAUTH_SECRET: optional(text, 'Its client secret.'),
    GOOGLE_OAUTH_CLIENT: optional(text, 'OAuth client id at Google. Unset: no sign-in with Google.'),
    GOOGLE_OAUTH_SECRET: optional(text, 'Its client secret.'),
  }),
  ...group('Mail', {
    MAIL_PROVIDER: optional(
      oneOf('sandbox', 'postmark', 'ses', 'smtp'),
      'The mail provider: the mail sandbox, Postmark, Amazon SES or an SMTP server.',
      'postmark with a POSTMARK_SERVER_TOKEN, else sandbox',
    ),
    POSTMARK_SERVER_TOKEN: optional(text, 'Server token of Postmark. Unset: mail goes to the sandbox.'),
    POSTMARK_ACCOUNT_TOKEN: optional(text, 'Account token of Postmark, for its Domains API.'),
    POSTMARK_API_URL: optional(httpUrl, 'Base URL of the Postmark API.', 'https://api.postmarkapp.com, or the sandbox'),
    POSTMARK_STREAM_TRANSACTIONAL: setting(text, 'outbound', 'Message stream for transactional mail.'),
    POSTMARK_STREAM_BROADCAST: setting(text, 'broadcast', 'Message stream for campaigns and marketing mail.'),
    POSTMARK_UNSUBSCRIBES: setting(
      oneOf('self', 'postmark'),
      'self',
      '`postmark` leaves the List-Unsubscribe headers of broadcast mail to Postmark.',
    ),
    POSTMARK_WEBHOOK_USER: optional(
      text,
      'User name that webhooks of Postmark must send.',
      'fernpost with the sandbox',
    ),
    POSTMARK_WEBHOOK_PASSWORD: optional(
      text,
      'Password that webhooks of Postmark must send.',
      'generated with the sandbox',
    ),
    POSTMARK_WEBHOOK_TOKEN: optional(text, 'Token accepted as `/webhooks/postmark/{token}`.'),
    AWS_SES_REGION: optional(text, 'Region of Amazon SES, such as `eu-west-1`.'),
    AWS_SES_ACCESS_KEY_ID: optional(
      text,
      'Access key for Amazon SES.',
      'what the machine has: environment, profile or role',
    ),
    AWS_SES_SECRET_ACCESS_KEY: optional(text, 'Its secret.'),
    AWS_SES_ENDPOINT: optional(
      httpUrl,
      'Base URL of the API of Amazon SES, such as that of a VPC endpoint.',
      'that of the region',
    ),
    SES_CONFIGURATION_SET: optional(text, 'Configuration set for mail with open and click tracking.'),
    SES_CONFIGURATION_SET_NO_TRACKING: optional(
      text,
      'Configuration set for mail without open and click tracking.',
      'SES_CONFIGURATION_SET',
    ),
    SMTP_URL: optional(
      smtpUrl,
      'SMTP server: `smtp://user:password@host:587`, or `smtps://…:465` for TLS from the first byte.',
    ),
    SMTP_REQUIRE_TLS: optional(flag, 'Never send to an SMTP server without TLS.', 'true where SMTP_URL has a password'),
    SMTP_MAX_MESSAGE_MB: setting(integer(1, 100), 25, 'Largest message for an SMTP server.'),
    PROVIDER_CONNECTIONS: setting(integer(1, 500), 20, 'Connections of one process to Amazon SES or an SMTP server.'),
    SNS_TOPIC_ARNS: setting(
      list,
      noItems,
      'Comma-separated list of the Amazon SNS topics that `/webhooks/sns` accepts; without any it accepts none.',
    ),
    MAIL_FROM_SUBDOMAIN: setting(text, 'pm-bounces', 'Label of the return-path domain.'),
    AUTO_PROJECT_DISABLE: setting(
      flag,
      true,
      'Disable a project whose bounces or complaints reach a limit; when false, only log it.',
    ),
    SYSTEM_FROM_ADDRESS: setting(email, 'no-reply@localhost.test', 'From address of mail of the service itself.'),
    SYSTEM_FROM_NAME: setting(text, 'Fernpost', 'From name of that mail.'),
    SEND_RATE_PER_PROJECT: setting(
      integer(0, 1_000_000),
      1000,
      'Messages a second for each project, with a burst of twice that; 0 turns it off.',
    ),
    SEND_CHUNK: setting(integer(1, 500), 500, 'Messages in one provider call of a campaign.'),
    CAMPAIGN_PARALLEL_BATCHES: setting(integer(1, 32), 4, 'Delivery lanes of one campaign.'),
    CAMPAIGN_CALLS_IN_FLIGHT: setting(integer(1, 32), 8, 'Provider calls that one lane has in flight.'),
    PROVIDER_LOOKUP_LAG_SECONDS: setting(
      integer(0, 3600),
      60,
      'How long a message that the provider does not know may still appear there before it is sent again.',
    ),
    PROVIDER_TIMEOUT_SECONDS: setting(integer(1, 300), 60, 'How long a call to the mail API of Postmark may take.'),
    MAX_ATTACHMENT_SIZE_MB: setting(integer(1, 40), 10, 'Total size of the attachments of one message.'),
    MAX_ATTACHMENTS_COUNT: setting(integer(0, 100), 10, 'Number of attachments of one message.'),
  }),
  ...group('SMTP submission', {
    SMTP_IN_PORT: optional(
      integer(0, 65535),
      'Port on which `npm run smtp` takes mail by SMTP, with STARTTLS where there is a certificate; 0 turns it off.',
      '587 with SMTP_IN_TLS_CERT, 2525 in development, else off',
    ),
    SMTP_IN_TLS_PORT: optional(
      integer(0, 65535),
      'Port on which it takes mail with TLS from the first byte; 0 turns it off.',
      '465 with SMTP_IN_TLS_CERT, else off',
    ),
    SMTP_IN_HOST: optional(text, 'Address these two ports listen on.', 'HOST'),
    SMTP_IN_TLS_CERT: optional(
      text,
      'File with the certificate chain (PEM), read again every hour. Without one only clients on the same machine can sign in.',
    ),
    SMTP_IN_TLS_KEY: optional(text, 'File with the key of that certificate (PEM).'),
    SMTP_IN_METRICS_PORT: optional(port, 'Port on which it serves `/metrics` and `/health`.'),
    SMTP_IN_CONNECTIONS: setting(
      integer(1, 100_000),
      1000,
      'Most connections to one of these ports at once; a project may be signed in on a quarter of them.',
    ),
    SMTP_IN_CONNECTIONS_PER_NETWORK: setting(
      integer(1, 100_000),
      20,
      'Most of them from one network (an IPv4 /24 or an IPv6 /64) that have not signed in; each has 15 seconds for it. Raise it behind a proxy that hides addresses.',
    ),
  }),
  ...group('Automations', {
    WORKFLOW_STARTS_PER_CONTACT_PER_HOUR: setting(
      integer(0, 100_000),
      50,
      'How often one contact may enter one workflow within an hour, against workflows that start each other; 0 is no limit.',
    ),
    WEBHOOK_ALLOWED_HOSTS: optional(
      list,
      'Comma-separated list of hosts (`host` or `host:port`) that webhooks may call although their addresses are not public, and without TLS.',
      'this machine, on a HOST that only this machine reaches, in development with the sandbox',
    ),
  }),
  ...group('Sandbox', {
    SANDBOX_HOST: setting(text, '127.0.0.1', 'Address the mail sandbox listens on.'),
    SANDBOX_PORT: setting(port, 8025, 'Port of the mail sandbox and its inbox.'),
    SANDBOX_URL: optional(
      httpUrl,
      'URL under which the other processes reach the mail sandbox.',
      'http://localhost:$SANDBOX_PORT',
    ),
    SANDBOX_INBOX_URL: optional(httpUrl, 'URL of the inbox in a browser, for links of the dashboard.', 'SANDBOX_URL'),
    SANDBOX_WEBHOOK_URL: optional(httpUrl, 'URL to which the sandbox posts its webhooks.', 'API_URI/webhooks/postmark'),
    SANDBOX_DELAY_MS: setting(
      integer(0, 600_000),
      1000,
      'Scale of the delays before deliveries, opens and clicks; 0 is immediate.',
    ),
    SANDBOX_KEEP: setting(integer(1, 1_000_000), 10_000, 'Number of messages the sandbox keeps.'),
  }),
  ...group('Limits', {
    RATE_LIMIT_PER_MINUTE: setting(
      integer(0, 100_000_000),
      1000,
      'Requests a minute for each project; 0 turns it off.',
    ),
    IDEMPOTENCY_KEY_TTL_HOURS: setting(integer(1, 8760), 24, 'How long an Idempotency-Key is remembered.'),
    EMAIL_BODY_RETENTION_DAYS: setting(
      integer(1, 36_500),
      90,
      'How long the rendered bodies of mail are kept; everything else about a mail stays.',
    ),
    EMAIL_RETENTION_DAYS: optional(
      integer(31, 36_500),
      'How long mail is kept, by whole days in UTC; sums stay, and of each contact the last mail of each kind. Not below `CONTACT_HISTORY_DAYS`.',
      'for ever',
    ),
    EVENT_RETENTION_DAYS: optional(
      integer(31, 36_500),
      'How long events are kept, by whole days in UTC; counts stay, of each contact the last event of each name, and changes of subscriptions. Not below `CONTACT_HISTORY_DAYS`.',
      'for ever',
    ),
    RUN_RETENTION_DAYS: optional(
      integer(31, 36_500),
      'How long ended executions of workflows are kept, by whole days in UTC; counts stay, and who has been in a workflow. Not below `CONTACT_HISTORY_DAYS`.',
      'for ever',
    ),
    CONTACT_HISTORY_DAYS: setting(
      integer(1, 3650),
      90,
      'How long changes of contacts are kept: for their history, and for undoing imports and bulk changes.',
    ),
    RESTORED_TO: optional(
      instant,
      'ISO instant to which Postgres was set back, by a restore or a failover to a replica that was behind. Mail is held until the provider has said what it accepted since.',
    ),
    BACKUP_RETENTION_DAYS: optional(
      integer(0, 3650),
      'How long your backups of Postgres are kept: an erasure waits for it before its certificate is final. 0: none are kept.',
      '0 with the sandbox, else 14',
    ),
    PROVIDER_RETENTION_DAYS: optional(
      integer(0, 3650),
      'How long the mail provider keeps messages; an erasure waits for it as well.',
      '45 with Postmark, else 0',
    ),
    OUTBOX_RETENTION_HOURS: setting(integer(1, 8760), 24, 'How long finished rows of the outbox are kept.'),
  }),
  ...group('Look-ups', {
    DNS_SERVERS: setting(
      resolvers,
      noItems,
      'Comma-separated list of resolvers (IP addresses, each with an optional port) for address and domain checks.',
      'those of the machine',
    ),
  }),
  ...group('Uploads', {
    STORAGE_DRIVER: optional(
      oneOf('local', 's3'),
      'Where uploaded images are kept: `local`, or `s3` for any S3-compatible store.',
      's3 when S3_ACCESS_KEY_ID is set, else local',
    ),
    UPLOAD_DIR: optional(text, 'Folder of uploaded images with the driver `local`.', 'DATA_DIR/uploads'),
    S3_ENDPOINT: optional(httpUrl, 'Base URL of the store; unset for Amazon S3 itself.'),
    S3_REGION: setting(text, 'us-east-1', 'Region of the store.'),
    S3_ACCESS_KEY_ID: optional(text, 'Access key of the store.'),
    S3_ACCESS_KEY_SECRET: optional(text, 'Secret of that key.'),
    S3_BUCKET: setting(text, 'uploads', 'Bucket of uploaded images.'),
    S3_PUBLIC_URL: optional(httpUrl, 'Public base URL of images; required with the driver `s3`.'),
    S3_FORCE_PATH_STYLE: setting(flag, true, 'Put the bucket in the path instead of the host.'),
  }),
  ...group('Billing', {
    STRIPE_SK: optional(text, 'Secret key of Stripe. Billing is enabled with it and STRIPE_WEBHOOK_SECRET.'),
    STRIPE_WEBHOOK_SECRET: optional(text, 'Signing secret of the webhook `/webhooks/incoming/stripe`.'),
    STRIPE_PRICE_EMAIL_USAGE: optional(text, 'Metered price of a mail; required when billing is enabled.'),
    STRIPE_PRICE_ONBOARDING: optional(text, 'One-time price that is added to a first checkout.'),
    STRIPE_METER_EVENT_NAME: setting(text, 'emails', 'Event name of the meter behind the metered price.'),
    STRIPE_API_URL: setting(httpUrl, 'https://api.stripe.com', 'Base URL of the Stripe API.'),
    FREE_TIER_MONTHLY_EMAILS: setting(
      integer(0, 1_000_000_000),
      1000,
      'Mails a month of a project without a subscription and limits of its own, if billing is enabled.',
    ),
  }),
  ...group('First run', {
    FIRST_PROJECT_OWNER: optional(
      email,
      'Address of the user who owns the first project. Required with a real mail provider and in production.',
      'owner@fernpost.test with the sandbox',
    ),
    FIRST_PROJECT_SENDER: optional(
      email,
      'Address the first project sends from; its domain is added to the project. Required with FIRST_PROJECT_OWNER.',
      'hello@fernpost.test with the sandbox',
    ),
    FIRST_PROJECT_NAME: setting(text, 'First project', 'Name of the first project.'),
    FIRST_PROJECT_PUBLIC_KEY: optional(text, 'Public key of the project that `npm start` creates.', 'random'),
    FIRST_PROJECT_SECRET_KEY: optional(text, 'Secret key of the project that `npm start` creates.', 'random'),
  }),
};

/** The parsed value of every setting, by its name. */
export type SettingValues = { [Name in keyof typeof settings]: (typeof settings)[Name]['fallback'] };

/** The setting that each mail provider cannot do without, but for the sandbox. */
export const neededByProvider = { postmark: 'POSTMARK_SERVER_TOKEN', ses: 'AWS_SES_REGION', smtp: 'SMTP_URL' } as const;
