import type { JsonObjectValue } from '../../core/lib/json.ts';

/**
 * `emails.render` of a message that is not rendered yet: the sources and a snapshot of the values, so that what is
 * delivered is what the request and the contact said when the message was accepted.
 */
export interface StoredRender {
  /** Liquid source of the subject. */
  subject: string;
  /** Liquid source of the HTML body. */
  body: string;
  /** Liquid source of the text part; derived from the HTML when absent. */
  text?: string;
  /** Values of the request, inserted as they are: a secret key vouches for them. */
  data: JsonObjectValue;
  /** The contact's data after the upsert of the request; escaped where it stands in HTML. */
  contact: JsonObjectValue;
  subscribed: boolean;
  /** The context of the automation's run that sends it. */
  event?: JsonObjectValue | null;
  /** The mail brought its own content: subject, body and text are no Liquid. An empty body is mail without HTML. */
  isLiteral?: boolean;
  /** The recipient is an address that its author named: whether the contact is subscribed says nothing of it. */
  isForOthers?: boolean;
}
