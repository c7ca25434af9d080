import type { Entry, MailEvent } from '../store/entry.ts';

/** The server id in every payload; the sandbox is one server. */
const serverId = 1;

const bounces = {
  hardBounce: {
    Type: 'HardBounce',
    TypeCode: 1,
    Name: 'Hard bounce',
    Description: 'The server was unable to deliver your message (for example unknown user, mailbox not found).',
    Details: 'smtp;550 5.1.1 The email account that you tried to reach does not exist.',
    Inactive: true,
    CanActivate: true,
  },
  softBounce: {
    Type: 'SoftBounce',
    TypeCode: 4096,
    Name: 'Soft bounce',
    Description: 'Unable to temporarily deliver message (for example mailbox full, server down).',
    Details: 'smtp;452 4.2.2 The email account that you tried to reach is over quota.',
    Inactive: false,
    CanActivate: false,
  },
  autoResponder: {
    Type: 'AutoResponder',
    TypeCode: 64,
    Name: 'Auto responder',
    Description: 'Automatic email responder, such as an out-of-office reply.',
    Details: 'Out of office until Monday.',
    Inactive: false,
    CanActivate: false,
  },
  complaint: {
    Type: 'SpamComplaint',
    TypeCode: 100001,
    Name: 'Spam complaint',
    Description: 'The subscriber explicitly marked this message as spam.',
    Details: 'Complaint made in the mail sandbox.',
    Inactive: true,
    CanActivate: false,
  },
} as const;

const reader = {
  Platform: 'Desktop',
  UserAgent: 'Mozilla/5.0 (X11; Linux x86_64) Fernpost-Sandbox/1.0',
  OS: { Name: 'Linux', Family: 'Linux', Company: 'Linux' },
  Client: { Name: 'Fernpost Sandbox', Family: 'Fernpost Sandbox', Company: 'Fernpost' },
  Geo: {
    IP: '127.0.0.1',
    City: '',
    Country: '',
    CountryISOCode: '',
    Region: '',
    RegionISOCode: '',
    Zip: '',
    Coords: '',
  },
};

/**
 * The body that Postmark posts to a webhook for this event, in Postmark's field names
 * (postmarkapp.com/developer/webhooks). `first` says whether an open is the message's first one.
 */
export function webhookPayload(entry: Entry, event: MailEvent, first: boolean): string {
  const at = new Date(event.at).toISOString();
  const common = {
    MessageID: entry.id,
    MessageStream: entry.stream,
    ServerID: serverId,
    Tag: entry.tag,
    Metadata: entry.metadata,
  };
  switch (event.type) {
    case 'delivery':
      return JSON.stringify({
        RecordType: 'Delivery',
        ...common,
        Recipient: event.recipient,
        DeliveredAt: at,
        Details: 'smtp;250 2.0.0 OK accepted by the mail sandbox',
      });
    case 'open':
      return JSON.stringify({
        RecordType: 'Open',
        ...common,
        Recipient: event.recipient,
        ReceivedAt: at,
        FirstOpen: first,
        ReadSeconds: 5,
        ...reader,
      });
    case 'click':
      return JSON.stringify({
        RecordType: 'Click',
        ...common,
        Recipient: event.recipient,
        ReceivedAt: at,
        OriginalLink: event.link ?? '',
        ClickLocation: 'HTML',
        ...reader,
      });
    case 'unsubscribe':
      return JSON.stringify({
        RecordType: 'SubscriptionChange',
        ...common,
        Recipient: event.recipient,
        ChangedAt: at,
        Origin: 'Recipient',
        SuppressSending: true,
        SuppressionReason: 'ManualSuppression',
      });
    default:
      return JSON.stringify({
        RecordType: event.type === 'complaint' ? 'SpamComplaint' : 'Bounce',
        ID: bigNumber(event.id ?? '0'),
        ...bounces[event.type],
        ...common,
        Email: event.recipient,
        From: entry.from,
        Subject: entry.subject,
        BouncedAt: at,
        DumpAvailable: false,
      });
  }
}

/** The event as `GET /messages/outbound/{id}/details` lists it. */
export function messageEvent(event: MailEvent): Record<string, unknown> {
  const base = { Recipient: event.recipient, ReceivedAt: new Date(event.at).toISOString() };
  switch (event.type) {
    case 'delivery':
      return {
        ...base,
        Type: 'Delivered',
        Details: {
          DeliveryMessage: 'smtp;250 2.0.0 OK',
          DestinationServer: 'sandbox.invalid',
          DestinationIP: '127.0.0.1',
        },
      };
    case 'open':
      return { ...base, Type: 'Opened', Details: { Summary: `Email opened with ${reader.Client.Name}` } };
    case 'click':
      return {
        ...base,
        Type: 'LinkClicked',
        Details: {
          Summary: `Tracked link clicked with ${reader.Client.Name}`,
          Link: event.link ?? '',
          ClickLocation: 'HTML',
        },
      };
    case 'unsubscribe':
      return { ...base, Type: 'SubscriptionChanged', Details: { Origin: 'Recipient', SuppressSending: 'True' } };
    default:
      return {
        ...base,
        Type: 'Bounced',
        Details: { Summary: bounces[event.type].Details, BounceID: bigNumber(event.id ?? '0') },
      };
  }
}

/** A JSON number that is written digit for digit, because Postmark's bounce ids exceed 2^53. */
function bigNumber(digits: string): unknown {
  // TypeScript's library does not know JSON.rawJSON yet; Node has it since version 22.
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits);
}
