// Until November 2026 the product had another name. This is the only source file that contains it. Each constant says why it stays:
// it derives keys of stored data, an existing installation has it, or clients, browsers and mail in flight still use it.

/** The name itself, for the test that finds it nowhere else. */
export const earlierName = 'posthorn';

/**
 * Contexts of HKDF. Their bytes are part of the keys of what is stored: API keys and DKIM keys, hashes of erased addresses, signatures of
 * certificates, payloads in Temporal. With other bytes none of it could be read or verified, so they never change.
 */
export const keyContexts = {
  storedSecrets: 'posthorn stored secrets',
  erasedAddresses: 'posthorn erased addresses',
  erasureCertificates: 'posthorn erasure certificates',
  temporalPayloads: 'posthorn temporal payloads',
} as const;

/** JWT_SECRET where none is set. Sessions, links and stored secrets of trials were made with it; production refuses it. */
export const developmentSecret = 'posthorn-development-secret-not-for-production';

/** The password of Postgres in docker-compose.yml before. Volumes made then keep it, and everybody knows it. */
export const composePassword = 'posthorn-development';

/** Prefix of the task queues of an installation that never set TEMPORAL_TASK_QUEUE: its open executions are on them. */
export const queuePrefix = 'posthorn';

/** Role and database of the Postgres that `npm start` made before: the role owns its tables. */
export const postgresName = 'posthorn';

/** Folder in the user's cache with the Temporal CLI, which takes minutes to build. */
export const cacheFolderName = 'posthorn';

/** How connections of the earlier release begin their application_name: it must not run beside the functions of this one. */
export const applicationPrefix = 'posthorn-';

/** How settings and channels begin in the functions that the earlier release has installed in the database. */
export const databaseNames = { setting: 'posthorn.', channel: 'posthorn_' } as const;

/** Keys of contact data that stay reserved, and variables of stored templates (docs/contract/core.md#2-1). */
export const contactKeys = { id: 'posthorn_id', email: 'posthorn_email' } as const;

/** Cookie of the sessions that began before. They last seven days. */
export const sessionCookie = 'posthorn_session';

/** User with which programs sign in to SMTP submission. */
export const smtpUser = 'posthorn';

/** User with which a mail sandbox of the earlier release calls the API. */
export const sandboxWebhookUser = 'posthorn';

/** Headers that steer SMTP submission; senders must not pass them on either. */
export const headerPrefix = 'x-posthorn-';

/** Headers with our ids in mail that left before: Amazon SES reports them back. */
export const idHeaders = { email: 'X-Posthorn-Email', project: 'X-Posthorn-Project' } as const;

/** Header by which receivers of WEBHOOK steps recognize repetitions. Sent beside the new one until November 2027. */
export const deliveryHeader = 'x-posthorn-delivery';

/** Names that developers have set up for the CLI: environment, folder of settings, file beside templates. */
export const cli = {
  url: 'POSTHORN_URL',
  key: 'POSTHORN_KEY',
  folder: 'posthorn',
  templatesFile: 'posthorn.json',
} as const;

/** Keys of the dashboard in localStorage: last project, theme, columns, drafts of workflows. */
export const storagePrefix = 'posthorn.';

/** Type of copied steps on the clipboard. */
export const stepsMarker = 'posthorn/workflow-steps';

/** Key of the language of examples in localStorage. */
export const docsLanguageKey = 'posthorn-docs-language';
