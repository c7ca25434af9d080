import * as v from 'valibot';

// Names under which other services take what is named differently here, or is not done at all. To drop them silently would
// send a mail without its copies or at once.
const noCopies = 'is not supported: every recipient in "to" gets a message of their own';
const called = (ours: string, ...theirs: string[]) => theirs.map((name) => [name, `is called "${ours}" here`] as const);
const foreignKeys: Readonly<Record<string, string>> = Object.fromEntries([
  ...['cc', 'bcc', 'Cc', 'Bcc', 'CC', 'BCC'].map((name) => [name, noCopies] as const),
  ...called('to', 'To', 'recipients', 'personalizations', 'destination', 'Destination'),
  ...called('from', 'From', 'sender', 'from_email', 'fromEmail'),
  ...called('fromName', 'from_name'),
  ...called('reply', 'reply_to', 'ReplyTo', 'replyto', 'reply_to_list', 'h:Reply-To'),
  ...called('subject', 'Subject'),
  ...called('body', 'html', 'Html', 'HtmlBody', 'htmlBody', 'html_body', 'htmlContent', 'html_content', 'react'),
  ...called('text', 'TextBody', 'textBody', 'text_body', 'textContent', 'text_content', 'plainText', 'plain_text'),
  ...called('template', 'templateId', 'template_id', 'TemplateId', 'TemplateAlias', 'template_name', 'templateName'),
  ...called(
    'data',
    'templateData',
    'template_data',
    'TemplateModel',
    'dynamic_template_data',
    'variables',
    'substitutions',
  ),
  ...called('data', 'merge_vars', 'mergeVars', 'global_merge_vars', 'h:X-Mailgun-Variables', 'params', 'props'),
  ...called('headers', 'Headers'),
  ...called('attachments', 'attachment', 'Attachments', 'files'),
  ...called(
    'scheduledFor',
    'scheduledAt',
    'scheduled_at',
    'scheduled_for',
    'sendAt',
    'send_at',
    'deliverAt',
    'deliver_at',
    'o:deliverytime',
  ),
  ...called(
    'tracking',
    'TrackOpens',
    'TrackLinks',
    'trackOpens',
    'trackLinks',
    'track_opens',
    'track_clicks',
    'o:tracking',
  ),
  ['type', 'is not supported: write the message as HTML in "body", or as plain text in "text"'],
]);

/** Refuses the names that other services have for fields, saying what the field is called here. */
export function noForeignKeys<Body extends Record<string, unknown>>() {
  return v.rawCheck<Body>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const [key, message] of Object.entries(foreignKeys)) {
      const value = dataset.value[key];
      if (value === undefined || value === null || (key === 'type' && value !== 'markdown')) continue;
      addIssue({ message, path: [{ type: 'object', origin: 'value', input: dataset.value, key, value }] });
    }
  });
}
