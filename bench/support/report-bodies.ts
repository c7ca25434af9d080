import { certificateUrl, notificationOf, signedPost, snsCertificate, topic } from '../../test/support/sns.ts';
import { reporter, reporterSettings } from './work.ts';

/** What a provider tells of a mail. */
export interface Told {
  what: 'Click' | 'Open' | 'Delivery' | 'Bounce';
  /** The mail's id, and its number among the others. */
  id: string;
  n: number;
  projectId: string;
  from: string;
  to: string;
  at: string;
}

/** A provider's way to tell: where it posts and how, what the API and the floor must be started with to believe it, and the body of each report. */
export interface ReportChannel {
  path: string;
  authorization: string;
  contentType: string;
  settings: NodeJS.ProcessEnv;
  apiArguments: string[];
  floorArguments: string[];
  body(told: Told): string;
}

const linkOf = (n: number) => `https://acme.test/${n % 9}`;

function postmarkBody({ what, id, n, projectId, to, at }: Told): string {
  const facts = {
    Click: { ReceivedAt: at, OriginalLink: linkOf(n) },
    Open: { ReceivedAt: at, FirstOpen: true },
    Delivery: { DeliveredAt: at },
    Bounce: { ID: n, Type: 'HardBounce', BouncedAt: at, Email: to, Description: '550' },
  };
  return JSON.stringify({
    RecordType: what,
    ...facts[what],
    MessageID: `m-${id}`,
    Recipient: to,
    Metadata: { eid: id, pid: projectId },
  });
}

const browser = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

// With the headers and tags that SES tells along: https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-examples.html
function sesBody({ what, id, n, projectId, from, to, at }: Told): string {
  const visit = { ipAddress: '192.0.2.1', timestamp: at, userAgent: browser };
  const facts = {
    Click: { click: { ...visit, link: linkOf(n), linkTags: null } },
    Open: { open: visit },
    Delivery: {
      delivery: {
        timestamp: at,
        processingTimeMillis: 546,
        recipients: [to],
        smtpResponse: '250 2.6.0 Message received',
        remoteMtaIp: '192.0.2.9',
        reportingMTA: 'a8-70.smtp-out.eu-west-1.amazonses.com',
      },
    },
    Bounce: {
      bounce: {
        feedbackId: `0102-${id}`,
        bounceType: 'Permanent',
        bounceSubType: 'General',
        bouncedRecipients: [
          { emailAddress: to, action: 'failed', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 user unknown' },
        ],
        timestamp: at,
        reportingMTA: 'dsn; a8-70.smtp-out.eu-west-1.amazonses.com',
      },
    },
  };
  const subject = 'A heron';
  const headers = {
    From: from,
    To: to,
    Subject: subject,
    'Message-ID': `<${id}@acme.test>`,
    'MIME-Version': '1.0',
    'Content-Type': `multipart/alternative; boundary="--_NmP-${id}"`,
    'X-Fernpost-Email': id,
    'X-Fernpost-Project': projectId,
  };
  const event = {
    eventType: what,
    mail: {
      timestamp: at,
      source: from,
      sourceArn: 'arn:aws:ses:eu-west-1:123456789012:identity/acme.test',
      sendingAccountId: '123456789012',
      messageId: `m-${id}`,
      destination: [to],
      headersTruncated: false,
      headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
      commonHeaders: { from: [from], to: [to], messageId: `m-${id}`, subject },
      tags: {
        'ses:source-tls-version': ['TLSv1.3'],
        'ses:operation': ['SendRawEmail'],
        'ses:configuration-set': ['fernpost'],
        'ses:source-ip': ['192.0.2.7'],
        'ses:from-domain': ['acme.test'],
        'ses:caller-identity': ['fernpost'],
        eid: [id],
        pid: [projectId],
      },
    },
    ...facts[what],
  };
  return signedPost(notificationOf(event));
}

/** The channels of the benchmark by their providers. Amazon SNS signs by a certificate of the benchmark's own, which is where Amazon's would be. */
export const reportChannels = {
  postmark: {
    path: '/webhooks/postmark',
    authorization: reporter,
    contentType: 'application/json',
    settings: reporterSettings,
    apiArguments: [],
    floorArguments: ['postmark', reporter],
    body: postmarkBody,
  },
  ses: {
    path: '/webhooks/sns',
    authorization: '',
    contentType: 'text/plain; charset=UTF-8',
    settings: { SNS_TOPIC_ARNS: topic },
    apiArguments: ['sns', certificateUrl, snsCertificate().pem],
    floorArguments: ['ses', topic, snsCertificate().pem],
    body: sesBody,
  },
} as const satisfies Record<string, ReportChannel>;
