import { sign } from 'node:crypto';
import { aCertificate, type TestCertificate } from './certificate.ts';

/** The topic of the tests. */
export const topic = 'arn:aws:sns:eu-west-1:123456789012:mail-events';
/** Where the certificate of the tests is. */
export const certificateUrl = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem';

let made = 0;
let own: TestCertificate | null = null;

/** The certificate behind `certificateUrl`. */
export function snsCertificate(): TestCertificate {
  own ??= aCertificate();
  return own;
}

/** Signs fields as Amazon SNS does, by its documentation and not by our code, and answers the body that it would post. */
export function signedPost(fields: Record<string, string>, version = '2', by = snsCertificate()): string {
  const order = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const names = fields.Type?.endsWith('Confirmation')
    ? order.filter((name) => name !== 'Subject')
    : order.filter((name) => name !== 'SubscribeURL' && name !== 'Token');
  let text = '';
  for (const name of names) if (fields[name] !== undefined) text += `${name}\n${fields[name]}\n`;
  const Signature = sign(version === '1' ? 'sha1' : 'sha256', Buffer.from(text), by.privateKey).toString('base64');
  return JSON.stringify({ SignatureVersion: version, SigningCertURL: certificateUrl, Signature, ...fields });
}

/** The fields of a notification that carries an event of Amazon SES. */
export function notificationOf(event: object | string, more: Record<string, string> = {}): Record<string, string> {
  made += 1;
  return {
    Type: 'Notification',
    MessageId: `22b80b92-fdea-4c2c-8f9d-${String(made).padStart(12, '0')}`,
    TopicArn: topic,
    Message: typeof event === 'string' ? event : JSON.stringify(event),
    Timestamp: new Date().toISOString(),
    UnsubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe',
    ...more,
  };
}
