import { escapeHtml } from '@fernpost/renderer';
import type { OutgoingAttachment, OutgoingMessage } from '../../domains/providers/mailer.ts';
import type { App } from '../../http/context.ts';
import type { Config } from '../../lib/config/config.ts';
import type { MessageClass } from '../../lib/enums.ts';
import { contentCache } from '../../templates/content/cache.ts';
import { type LinkSettings, type TrackingMode, tracksEmail } from '../../templates/content/links.ts';
import type { MessageRecipient, prepareContent } from '../../templates/content/prepare.ts';
import type { ClaimedMail } from '../ledger/queries.ts';

/** The settings that composing depends on. */
export type ComposerSettings = Pick<Config, 'DASHBOARD_URI' | 'API_URI' | 'LINK_SECRET' | 'POSTMARK_UNSUBSCRIBES'>;

/** One message, with the content that it shares with the others of its send. */
interface Composition {
  subject: string;
  body: string;
  /** Liquid source of the text part; derived from the HTML when absent. */
  text?: string | null;
  messageClass: MessageClass;
  sourceType: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW';
  project: { name: string; tracking: TrackingMode; language: string; escapeContactData: boolean };
  projectId: string;
  /** The template that the content was taken from, if any. */
  templateId?: string | null;
  emailId: string;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  to: { address: string; name: string | null };
  contact: MessageRecipient['contact'];
  requestData?: MessageRecipient['requestData'];
  event?: MessageRecipient['event'];
  /** Subject, body and text are no templates. */
  isLiteral?: boolean;
  headers?: Readonly<Record<string, string>> | null;
  attachments?: readonly OutgoingAttachment[];
  /** Override of the project's tracking mode. */
  tracking?: boolean | null;
  /** Gets what there is to know of the message beside its texts, where somebody asks. */
  notes?: ComposeNotes | undefined;
}

/** How rendering a message went. */
export interface ComposeNotes {
  /** Variables that it prints and its recipient lacks. */
  missing: Set<string>;
  /** Why a template was only filled in plainly; null when all went well. */
  problem: string | null;
}

/** Turns content and a recipient into the message that the provider gets. */
export type Composer = (composition: Composition) => OutgoingMessage;

/** Where a template that does not work as its author meant is reported. */
export interface ComposerLog {
  warn(facts: object, text: string): void;
}

const mostReported = 1000;

/** Builds the composer of a process; prepared templates are shared between all of its messages. */
export function createComposer(settings: ComposerSettings, log: ComposerLog): Composer {
  const links: LinkSettings = {
    pagesUrl: settings.DASHBOARD_URI,
    apiUrl: settings.API_URI,
    secret: settings.LINK_SECRET,
  };
  const prepared = contentCache(links);
  const reported = new Set<string>();
  // Once for each project and fault, not for each of a million messages.
  const report = (projectId: string, problem: string) => {
    const key = `${projectId} ${problem}`;
    if (reported.has(key) || reported.size >= mostReported) return;
    reported.add(key);
    log.warn({ projectId, problem }, 'a template could only be filled in plainly');
  };
  return (facts) => {
    const { project, messageClass, sourceType } = facts;
    const broadcast = messageClass !== 'TRANSACTIONAL' && sourceType !== 'TRANSACTIONAL';
    const content = prepared({
      ...(facts.isLiteral
        ? literalSource(facts)
        : { subject: facts.subject, body: facts.body, text: facts.text ?? null }),
      messageClass,
      projectName: project.name,
      language: project.language,
      escapeContactData: project.escapeContactData,
      // The content of a request says exactly what it means (docs/contract/core.md#2-4).
      findsSimilarFields: sourceType !== 'TRANSACTIONAL' || facts.templateId != null,
    });
    const recipient: MessageRecipient = {
      emailId: facts.emailId,
      contact: facts.contact,
      requestData: facts.requestData,
      event: facts.event,
      isCampaign: sourceType === 'CAMPAIGN',
      customHeaders: facts.headers,
      ownUnsubscribeHeaders: !(broadcast && settings.POSTMARK_UNSUBSCRIBES === 'postmark'),
      missing: facts.notes?.missing,
    };
    const filled = facts.isLiteral ? fillLiteral(content, recipient, facts) : content.fillFor(recipient);
    if (filled.problem !== null) report(facts.projectId, filled.problem);
    if (facts.notes !== undefined) facts.notes.problem = filled.problem;
    return {
      emailId: facts.emailId,
      projectId: facts.projectId,
      from: { address: facts.from, name: facts.fromName ?? project.name },
      to: facts.to,
      replyTo: facts.replyTo,
      subject: filled.subject,
      html: filled.html,
      text: filled.text,
      headers: filled.headers,
      attachments: facts.attachments ?? [],
      // docs/contract/campaigns-and-workflows.md#1-2: also a campaign or step is transactional mail when its type says so.
      tag: messageClass === 'TRANSACTIONAL' ? 'TRANSACTIONAL' : sourceType,
      stream: broadcast ? 'broadcast' : 'transactional',
      tracking: tracksEmail({ override: facts.tracking ?? null, mode: project.tracking, messageClass }),
    };
  };
}

/** Composes queued mail: what is not rendered yet is, with the values that were kept when it was accepted. */
export function composeQueued(compose: Composer, mail: ClaimedMail): OutgoingMessage {
  const { render, contact } = mail;
  return compose({
    ...mail,
    emailId: mail.id,
    subject: render?.subject ?? mail.subject ?? '',
    body: render?.body ?? mail.body ?? '',
    text: render?.text ?? null,
    isLiteral: render?.isLiteral ?? false,
    to: { address: mail.toAddress, name: mail.toName },
    contact: {
      id: mail.contactId,
      email: contact.email,
      subscribed: render?.subscribed ?? contact.subscribed,
      data: render?.contact ?? contact.data,
    },
    requestData: render?.data ?? null,
    event: render?.event ?? null,
    attachments: (mail.attachments ?? []).map((file) => ({
      filename: file.filename,
      content: file.content,
      contentType: file.contentType,
      contentId: file.disposition === 'inline' ? (file.contentId ?? null) : null,
    })),
  });
}

const composers = new WeakMap<App, Composer>();

/** The composer of an API process: one for all its routes, since each keeps rendered content in memory. */
export function composerOf(app: App): Composer {
  const composer = composers.get(app) ?? createComposer(app.config, app.log);
  composers.set(app, composer);
  return composer;
}

type PreparedContent = ReturnType<typeof prepareContent>;

/** Content that is sent as it is. */
interface LiteralMail {
  subject: string;
  /** Empty for mail without HTML. */
  body: string;
  /** Derived from the HTML when absent. */
  text?: string | null;
  messageClass: MessageClass;
}

/**
 * The template of literal mail. Its contents differ from mail to mail: they are values, so that none is taken for Liquid, and none prepared
 * and kept as a template.
 */
function literalSource({ text }: Pick<LiteralMail, 'text'>) {
  return {
    subject: '{{ fernpost_subject }}',
    body: '{{ fernpost_body }}',
    text: text == null ? null : '{{ fernpost_text }}',
  };
}

/** Fills `literalSource`: HTML and text come out as they are, those of marketing mail with its footer. */
function fillLiteral(content: PreparedContent, recipient: MessageRecipient, mail: LiteralMail) {
  const { subject: fernpost_subject, body, text: fernpost_text } = mail;
  const isMarketing = mail.messageClass === 'MARKETING';
  // Where the HTML needs no footer and gives no text, nothing has to be done to it.
  const fernpost_body = isMarketing || fernpost_text == null ? body : '';
  const filled = content.fillFor({ ...recipient, requestData: { fernpost_subject, fernpost_body, fernpost_text } });
  return isMarketing && body !== '' ? filled : { ...filled, html: body };
}

/** The body that is kept of a message: its HTML, or its text as HTML where it has none. */
export function keptBody({ html, text }: Pick<OutgoingMessage, 'html' | 'text'>): OutgoingMessage['html'] {
  return html.length > 0 || text === null ? html : `<pre>${escapeHtml(String(text))}</pre>`;
}
