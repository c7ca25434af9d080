import { htmlToText, StepLimitError } from '@fernpost/renderer';
import { contactsAndTrash } from '../../contacts/trash-queries.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import type { ProjectFacts } from '../../projects/directory.ts';
import { type Query, sql } from '../../store/sql.ts';
import { type Composer, keptBody } from '../engine/compose.ts';

/** The columns of a mail's row that rendering it needs. */
export interface StoredMail {
  id: string;
  projectId: string;
  sourceType: string;
  messageClass: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS';
  recipientAddress: string;
  toName: string | null;
  templateId: string | null;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  /** The sources, or the final texts where `rendered`; null once they are emptied. */
  subject: string | null;
  body: string | null;
  rendered: boolean;
  /** Values of the request. */
  data: JsonObjectValue | null;
  /** The context of an automation's run. */
  event: JsonObjectValue | null;
  /** Subject, body and text are no templates. */
  isLiteral: boolean;
  text: string | null;
  contact: { id: string; email: string; subscribed: boolean; data: JsonObjectValue };
  project: Pick<ProjectFacts, 'name' | 'tracking' | 'language' | 'escapeContactData'>;
}

/** The columns of `StoredMail`, from `storedMailJoins`; the body is empty without `withBody`, for lists: bodies are large. */
export const storedMailColumns = (withBody: boolean) => sql`
  e.id, e.project_id as "projectId", e.source_type as "sourceType", e.message_class as "messageClass",
  e.to_address as "recipientAddress", e.to_name as "toName", e.template_id as "templateId", e."from", e.from_name as "fromName", e.reply_to as "replyTo",
  coalesce(e.render ->> 'subject', e.subject, former.subject, k.subject) as subject,
  case when ${withBody}::boolean then coalesce(e.render ->> 'body', e.body, former.body, k.body) else '' end as body,
  e.render is null and e.subject is not null as rendered,
  e.render -> 'data' as data, nullif(e.render -> 'event', 'null') as event,
  coalesce((e.render ->> 'isLiteral')::boolean, false) as "isLiteral", e.render ->> 'text' as text,
  jsonb_build_object('id', c.id, 'email', c.email, 'subscribed', coalesce((e.render ->> 'subscribed')::boolean, c.subscribed),
    'data', coalesce(e.render -> 'contact', c.data)) as contact,
  jsonb_build_object('name', p.name, 'tracking', p.tracking, 'language', p.language,
    'escapeContactData', p.escape_contact_data) as project`;

/** The join of the campaign's content that mail was sent with, where a later version has replaced it. */
export const formerContent: Query = sql`campaign_versions former on former.campaign_id = e.campaign_id and former.send_seq = e.send_seq
    and (e.sent_at is not null or e.message_id is not null) and former.version = coalesce(e.content_version, 1)`;

/** The tables that `storedMailColumns` reads. */
export const storedMailJoins: Query = sql`emails e join ${contactsAndTrash} c on c.id = e.contact_id join projects p on p.id = e.project_id
  left join campaigns k on k.id = e.campaign_id
  left join ${formerContent}`;

/** A mail's texts; the body is empty and `text` null once they were emptied. */
interface Rendered {
  subject: string;
  body: string;
  text: string | null;
}

/** A mail as it was sent or, while it was not, as it would be now. Of mail that was sent the text part is not kept: it is derived again. */
export function renderStored(compose: Composer, mail: StoredMail): Rendered {
  const { subject, body } = mail;
  if (mail.rendered || subject === null)
    return { subject: subject ?? '', body: body ?? '', text: body ? htmlToText(body) : null };
  const message = composedOrNull(compose, {
    ...mail,
    subject,
    body: body ?? '',
    sourceType: mail.sourceType as 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW',
    emailId: mail.id,
    to: { address: mail.recipientAddress, name: mail.toName },
    requestData: mail.data,
  });
  if (message === null) return { subject, body: '', text: null };
  // Emptied when it was old enough: what is left of it is the subject. Mail that brought only a text never had a body.
  const isEmptied = body === null || (body === '' && !mail.isLiteral && !mail.text);
  if (isEmptied) return { subject: message.subject, body: '', text: null };
  return { subject: message.subject, body: String(keptBody(message)), text: message.text && String(message.text) };
}

// Where it was never sent, nobody has seen that it cannot be rendered.
function composedOrNull(compose: Composer, composition: Parameters<Composer>[0]): ReturnType<Composer> | null {
  try {
    return compose(composition);
  } catch (error) {
    if (error instanceof StepLimitError) return null;
    throw error;
  }
}
