import MailComposer from 'nodemailer/lib/mail-composer';
import type { OutgoingMessage } from './mailer.ts';
import { idHeaders } from './ses/ses-notification.ts';

/**
 * Extensions of the files that Postmark refuses to carry, lower case
 * (https://postmarkapp.com/support/article/1056-what-are-the-attachment-and-email-size-limits). It says so by ErrorCode 411.
 */
export const refusedByPostmark: ReadonlySet<string> = new Set(
  `bat bin chm com cpl crt exe hlp hta inf ins isp jse lnk mdb msc msi msp mst pcd pif reg scr sct shs vb vba vbe vbs wsc wsf
  wsh wsl`.split(/\s+/),
);

/**
 * Extensions of the files that Amazon SES refuses to carry, lower case
 * (https://docs.aws.amazon.com/ses/latest/dg/mime-types.html).
 */
export const refusedBySes: ReadonlySet<string> = new Set(
  `ade adp app asp bas bat cer chm cmd com cpl crt csh der exe fxp gadget hlp hta inf ins isp its js jse ksh lib lnk mad maf mag
  mam maq mar mas mat mau mav maw mda mdb mde mdt mdw mdz msc msh msh1 msh2 mshxml msh1xml msh2xml msi msp mst ops pcd pif plg
  prf prg reg scf scr sct shb shs sys ps1 ps1xml ps2 ps2xml psc1 psc2 tmp url vb vbe vbs vps vsmacros vss vst vsw vxd ws wsc wsf
  wsh xnk`.split(/\s+/),
);

// docs/contract/platform.md#10-2: the provider writes these itself, and refuses or repeats them when they come from us.
const providerHeaders =
  /^(?:from|to|cc|bcc|subject|date|message-id|reply-to|sender|return-path|mime-version|content-.*)$/i;

// The same few names come with every message.
const known = new Map<string, boolean>();

/** Whether a header is ours to write, and not the provider's. */
export function isOurHeader(name: string): boolean {
  const answer = known.get(name) ?? !providerHeaders.test(name);
  if (known.size < 1000) known.set(name, answer);
  return answer;
}

/** A display name as it may stand in a header; empty for none. */
export function cleanName(name: string | null): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not reach a header
  return name?.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim() ?? '';
}

// System and undici codes of a connection that was never there: no name, no route, nobody listening, no TLS.
const unwrittenCodes =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EAI_FAIL|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|ERR_SSL_.*|CERT_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*|EPROTO)$/;

/** Whether a network error proves that no byte of the request reached the server. */
export function failedBeforeWriting(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { code, syscall } = at as NodeJS.ErrnoException;
    if (code !== undefined && (unwrittenCodes.test(code) || syscall === 'connect')) return true;
  }
  return false;
}

/** The Message-ID that a message has wherever and however often it is handed over, without brackets. */
export function messageIdOf({ emailId, from }: OutgoingMessage): string {
  return `${emailId}@${from.address.slice(from.address.lastIndexOf('@') + 1)}`;
}

/**
 * A message as MIME (docs/contract/core.md#2-5): text and HTML as alternatives, inline files related to the HTML, other files
 * mixed in; our ids as headers. Rejects when the message cannot be written as MIME.
 */
export function mimeOf(message: OutgoingMessage): Promise<Buffer> {
  const { from, to, replyTo, subject, html, text, headers, attachments } = message;
  const mail = new MailComposer({
    from: person(from),
    to: person(to),
    ...(replyTo === null ? {} : { replyTo }),
    subject,
    ...(text === null ? {} : { text: String(text) }),
    ...(html.length === 0 ? {} : { html: String(html) }),
    messageId: `<${messageIdOf(message)}>`,
    headers: [
      ...headers.filter(({ name }) => isOurHeader(name)).map(({ name, value }) => ({ key: name, value })),
      { key: idHeaders.email, value: message.emailId },
      { key: idHeaders.project, value: message.projectId },
    ],
    attachments: attachments.map(({ filename, content, contentType, contentId }) => ({
      filename,
      content,
      encoding: 'base64',
      contentType,
      ...(contentId === null ? {} : { cid: contentId, contentDisposition: 'inline' }),
    })),
    // Content is what the request said, never a file or an address to read it from.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return new Promise((resolve, reject) => {
    mail.compile().build((error, mime) => {
      if (error || !mime) reject(error ?? new Error('The message could not be written as MIME'));
      else resolve(mime);
    });
  });
}

function person({ address, name }: OutgoingMessage['from']): { address: string; name: string } {
  return { address, name: cleanName(name) };
}
