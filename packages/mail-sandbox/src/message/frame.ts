import type { SubmittedMessage } from '../schema.ts';

const inlineTypes = /^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/i;

/**
 * The policy for a message's own HTML: no script, no form, no frame, an origin of its own that shares nothing with the
 * inbox; images from the web only when asked for. Links open in a new tab that is free of these limits.
 */
export function framePolicy(images: boolean): string {
  return [
    'sandbox allow-popups allow-popups-to-escape-sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data:${images ? ' https: http:' : ''}`,
    `font-src data:${images ? ' https:' : ''}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}

/** The HTML as it is shown: links open in a new tab, and images attached to the message stand where it names them. */
export function framedHtml(message: SubmittedMessage): string {
  const markup = message.HtmlBody ?? '';
  const base = '<base target="_blank">';
  const head = /<head(?:\s[^>]*)?>/i.exec(markup) ?? /^\s*<!doctype[^>]*>/i.exec(markup);
  const at = head ? head.index + head[0].length : 0;
  return withInlineImages(`${markup.slice(0, at)}${base}${markup.slice(at)}`, message.Attachments ?? []);
}

function withInlineImages(markup: string, attachments: NonNullable<SubmittedMessage['Attachments']>): string {
  const images = new Map<string, string>();
  for (const { ContentID, ContentType, Content } of attachments) {
    if (!ContentID || !inlineTypes.test(ContentType)) continue;
    images.set(ContentID.replace(/^cid:/i, ''), `data:${ContentType};base64,${Content.replaceAll(/\s+/g, '')}`);
  }
  if (images.size === 0) return markup;
  return markup.replaceAll(/cid:([^"'\s)<>]+)/gi, (whole, id: string) => images.get(id) ?? whole);
}
