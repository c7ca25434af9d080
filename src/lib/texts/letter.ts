import { escapeHtml } from '@fernpost/renderer';
import { type LetterKind, type MailText, mailTexts } from './letter-texts.ts';

/** The content of a mail of the service: its kind says the text, `values` fill it, `link` is where its button leads. */
export interface LetterRequest {
  kind: LetterKind;
  /** A language, or the `Accept-Language` of a request; English where it is not offered. */
  language: string | null;
  link: string;
  /** `project`, `domain`, `category` … : the names that stand in the texts of the kind. */
  values?: Readonly<Record<string, string>>;
}

/** A mail of the service, written out. */
export interface Letter {
  subject: string;
  html: string;
  text: string;
}

type Language = keyof typeof mailTexts;

/** Writes a mail in the first of the wished languages that is offered. `service` is the name it is sent under. */
export function writeLetter(mail: LetterRequest, service: string): Letter {
  const language = firstOffered(mail.language);
  const { subject, line, button, note } = mailTexts[language][mail.kind];
  const values: Record<string, string> = { service, ...mail.values };
  const fill = (sentence: string) =>
    sentence.replaceAll(/\{(\w+)\}/g, (whole, name: string) => oneLine(values[name] ?? whole));
  const said = { subject: fill(subject), line: fill(line), button: fill(button), note: fill(note) };
  return {
    subject: said.subject,
    text: `${said.line}\n\n${said.button}: ${mail.link}\n\n${said.note}\n`,
    html: page(language, said, mail.link),
  };
}

function page(language: Language, { subject, line, button, note }: MailText, link: string): string {
  const paragraph = (text: string, style: string) => `<p style="margin:0 0 16px;${style}">${escapeHtml(text)}</p>`;
  return `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(subject)}</title></head>
<body style="margin:0;padding:32px 16px;background:#f4f4f2;color:#1d1d1b;font:16px/1.5 system-ui,sans-serif">
<div role="article" style="max-width:520px;margin:0 auto;padding:32px;background:#ffffff;border-radius:8px">
<h1 style="margin:0 0 16px;font-size:20px">${escapeHtml(subject)}</h1>
${paragraph(line, '')}
<p style="margin:24px 0"><a href="${escapeHtml(link)}" style="display:inline-block;padding:12px 20px;background:#1f4b99;color:#ffffff;border-radius:6px;text-decoration:none">${escapeHtml(button)}</a></p>
${paragraph(note, 'color:#5c5c58;font-size:14px')}
<p style="margin:0;color:#5c5c58;font-size:14px;word-break:break-all">${escapeHtml(link)}</p>
</div></body></html>
`;
}

// `de-CH,fr;q=0.8`: browsers write the languages in the order of the wish.
function firstOffered(wishes: string | null): Language {
  for (const wish of (wishes ?? '').split(',')) {
    const base = (wish.split(';')[0] ?? '').trim().toLowerCase().split('-')[0] ?? '';
    if (Object.hasOwn(mailTexts, base)) return base as Language;
  }
  return 'en';
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
