import type { Tone } from '../../ui/Badge.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import type { Email } from './email.ts';

const kinds: Record<string, { name: string; tone?: Tone }> = {
  accepted: { name: 'Accepted' },
  sent: { name: 'Sent', tone: 'info' },
  delivery: { name: 'Delivered', tone: 'good' },
  open: { name: 'Opened', tone: 'good' },
  click: { name: 'Clicked', tone: 'good' },
  bounce: { name: 'Bounced', tone: 'bad' },
  complaint: { name: 'Reported as spam', tone: 'bad' },
  failed: { name: 'Failed', tone: 'bad' },
  suppressed: { name: 'Suppressed', tone: 'warn' },
  cancelled: { name: 'Canceled' },
  received: { name: 'Received', tone: 'info' },
};

const dots: Record<Tone | 'none', string> = {
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
  info: 'bg-info',
  none: 'bg-muted',
};

/** Shows the history of an email, oldest first, with the provider's words. */
export function Timeline({ email }: { email: Email }) {
  return (
    <ol>
      {email.timeline.map(({ at, type, detail }, index) => {
        const { name, tone } = kinds[type] ?? { name: type };
        const more = wordsOf(type, detail, email);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list only grows at its end, and two opens may be equal
          <li key={index} className="relative flex gap-3 pb-4 last:pb-0">
            <span className="flex flex-col items-center" aria-hidden>
              <span className={`mt-1.5 size-2 shrink-0 rounded-full ${dots[tone ?? 'none']}`} />
              {index < email.timeline.length - 1 ? <span className="-mb-4 w-px flex-1 bg-line" /> : null}
            </span>
            <div className="min-w-0">
              <div className="flex flex-wrap items-baseline gap-x-2">
                <span className="font-medium">{name}</span>
                <span className="text-sm text-muted">
                  <Timestamp at={at} />
                </span>
              </div>
              {more ? <div className="break text-sm text-muted">{more}</div> : null}
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function wordsOf(type: string, detail: Record<string, unknown> | null, { error }: Email): string | null {
  if (type === 'click') return typeof detail?.link === 'string' ? detail.link : null;
  if (type === 'suppressed') return typeof detail?.name === 'string' ? detail.name : null;
  if (type === 'failed') return typeof detail?.error === 'string' ? detail.error : error;
  if (type !== 'bounce') return null;
  const bounceType = String(detail?.bounceType ?? '');
  // The service keeps the words of the bounce that ended the delivery.
  return [bounceType, detail?.transientBounce === true ? null : error].filter(Boolean).join(': ') || null;
}
