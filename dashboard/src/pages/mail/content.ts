/** What a template and a campaign have in common: the message. */
export interface MailContent {
  name: string;
  subject: string;
  body: string;
  from: string;
  fromName: string;
  replyTo: string;
  type: 'MARKETING' | 'TRANSACTIONAL' | 'HEADLESS';
}

/** What the kinds of mail mean to those who choose one. */
export const mailTypes: Record<MailContent['type'], string> = {
  MARKETING: 'Marketing: to subscribers, with an unsubscribe footer',
  TRANSACTIONAL: 'Transactional: to everybody, without a footer',
  HEADLESS: 'Headless: to subscribers, without a footer of ours',
};

/** What the parts of a message are called. */
export const contentNames: Record<keyof MailContent, string> = {
  name: 'Name',
  subject: 'Subject',
  from: 'From',
  fromName: 'From name',
  replyTo: 'Reply-to',
  type: 'Type',
  body: 'Body',
};

/** A new message. */
export const emptyContent: MailContent = {
  name: '',
  subject: '',
  body: '<p>Hello {{firstName ?? there}},</p>\n\n<p></p>\n',
  from: '',
  fromName: '',
  replyTo: '',
  type: 'MARKETING',
};

/** The message of a template or campaign as the form has it: nothing is an empty text. */
export function contentOf(
  saved: Omit<MailContent, 'fromName' | 'replyTo'> & { fromName: string | null; replyTo: string | null },
): MailContent {
  const { name, subject, body, from, fromName, replyTo, type } = saved;
  return { name, subject, body, from, type, fromName: fromName ?? '', replyTo: replyTo ?? '' };
}

/** The form's content as the API takes it: an empty text clears. */
export function contentBody({ fromName, replyTo, ...rest }: MailContent) {
  return { ...rest, fromName: fromName || null, replyTo: replyTo || null };
}
