import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useProjectId } from '../../app/address.ts';
import { Address } from '../../ui/Address.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { WhyButton } from '../explain/Why.tsx';
import { type EmailSummary, sources, stateOf, subjectOf } from './email.ts';

/** A mail in a list: to whom or, where it was received, from whom, what, and what became of it. */
export function EmailRow({ email, children }: { email: EmailSummary; children?: ReactNode }) {
  const project = useProjectId();
  const state = stateOf(email);
  return (
    <div
      className={`flex flex-wrap items-center gap-x-3 gap-y-1 @2xl:grid ${
        children
          ? '@2xl:grid-cols-[minmax(0,5fr)_minmax(0,4fr)_minmax(0,4fr)_auto]'
          : '@2xl:grid-cols-[minmax(0,5fr)_minmax(0,5fr)_6rem_5.5rem_7.5rem_3.5rem]'
      }`}
    >
      <Link data-main to="/app/$project/emails/$email" params={{ project, email: email.id }}>
        {email.sender?.name ? (
          <span className="break" dir="auto">
            {email.sender.name}
          </span>
        ) : (
          <Address>{email.sender?.email ?? email.to}</Address>
        )}
      </Link>
      <span className="break max-sm:basis-full" dir="auto">
        {subjectOf(email) || <span className="muted">No subject</span>}
      </span>
      {children ? (
        <>
          <span className="muted">
            <Timestamp at={email.scheduledFor ?? email.heldUntil} />
          </span>
          {children}
        </>
      ) : (
        <>
          <Badge tone={state.tone}>{state.name}</Badge>
          <span className="text-sm text-muted">{sources[email.source]}</span>
          <span className="muted">
            <Timestamp at={email.sentAt ?? email.createdAt} />
          </span>
          {email.source === 'INBOUND' ? null : (
            <WhyButton contact={email.contact.id} about={{ emailId: email.id }} row={`Email to ${email.to}`} />
          )}
        </>
      )}
    </div>
  );
}
