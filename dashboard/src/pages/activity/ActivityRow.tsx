import { Link } from '@tanstack/react-router';
import { useProjectId } from '../../app/address.ts';
import { Address } from '../../ui/Address.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import type { ActivityItem } from '../../words/activity-groups.ts';
import { WhyButton } from '../explain/Why.tsx';
import { emailOf, kindOf, subjectOf, workflowOf } from './kinds.ts';

const columns = {
  who: '@2xl:grid-cols-[9.5rem_minmax(0,5fr)_minmax(0,5fr)_7.5rem_3.5rem]',
  alone: '@2xl:grid-cols-[9.5rem_minmax(0,1fr)_9rem_3.5rem]',
};

/** One thing that happened: what, to whom, when. */
export function ActivityRow({ item, who = true }: { item: ActivityItem; who?: boolean }) {
  const project = useProjectId();
  const kind = kindOf(item);
  const subject = subjectOf(item.metadata);
  const email = emailOf(item);
  const workflow = workflowOf(item);
  const about = email ? { emailId: email } : workflow ? { workflowId: workflow } : null;
  return (
    <div
      className={`flex flex-wrap items-center gap-x-3 gap-y-1.5 [&_a]:inline-block [&_a]:min-h-6 [&_a]:font-medium [&_a]:text-ink [&_a]:no-underline [&_a:hover]:underline @2xl:grid ${who ? columns.who : columns.alone}`}
    >
      <Badge tone={kind.tone}>{kind.name}</Badge>
      <span className="break" dir="auto">
        {email === null ? (
          subject
        ) : (
          <Link to="/app/$project/emails/$email" params={{ project, email }}>
            {subject || 'No subject'}
          </Link>
        )}
      </span>
      {who ? (
        <span className="break">
          {item.contactId ? (
            <Link to="/app/$project/contacts/$contact" params={{ project, contact: item.contactId }}>
              <Address>{item.contactEmail ?? ''}</Address>
            </Link>
          ) : (
            item.contactEmail
          )}
        </span>
      ) : null}
      <span className="muted">
        <Timestamp at={item.timestamp} />
      </span>
      {about && item.contactId && item.type !== 'email.received' ? (
        <WhyButton contact={item.contactId} about={about} row={`${kind.name}: ${subject || item.contactEmail}`} />
      ) : null}
    </div>
  );
}
