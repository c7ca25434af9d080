import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { ShownPage } from '../../ui/ShownPage.tsx';
import { Note } from '../../ui/States.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { counted } from '../../words/numbers.ts';
import { WhyButton } from '../explain/Why.tsx';
import { Content } from './Content.tsx';
import { Details, Headers, TextPart } from './EmailParts.tsx';
import {
  clickedLinks,
  type Email,
  isQueued,
  isResendable,
  isUnderWay,
  stateOf,
  subjectOf,
  whyOf,
  withName,
} from './email.ts';
import { type QueueChange, QueuedDialog } from './QueuedDialog.tsx';
import { ResendDialog } from './ResendDialog.tsx';
import { Timeline } from './Timeline.tsx';

/** One mail: what was sent, what happened to it, and why. */
export function EmailPage() {
  const project = useProjectId();
  const { email: id = '' } = useParams({ strict: false });
  const email = useQuery({
    queryKey: ['emails', project, id],
    refetchInterval: ({ state }) => (state.data && isUnderWay(state.data, Date.now()) ? 3_000 : false),
    queryFn: () => answer(api.GET('/emails/{id}', { params: { path: { id }, query: { include: 'body' } } })),
  });
  const above = (
    <Link to="/app/$project/emails" params={{ project }}>
      Emails
    </Link>
  );
  return (
    <ShownPage query={email} above={above}>
      {(found) => <OneEmail email={found} />}
    </ShownPage>
  );
}

type OpenDialog = QueueChange | 'resend';

function OneEmail({ email }: { email: Email }) {
  const project = useProjectId();
  const [{ view }, change] = useFilters();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const state = stateOf(email);
  const isWaiting = email.scheduledFor !== null || email.heldUntil !== null;
  const views = [
    { key: 'html', name: 'Email', content: <Content email={email} /> },
    { key: 'text', name: 'Text', content: <TextPart text={email.text ?? null} /> },
    { key: 'headers', name: 'Headers', content: <Headers email={email} /> },
  ];
  return (
    <Page
      title={subjectOf(email) || 'No subject'}
      above={
        <Link to="/app/$project/emails" params={{ project }}>
          Emails
        </Link>
      }
      about={
        <span className="row">
          <Badge tone={state.tone}>{state.name}</Badge> {email.sender ? 'from' : 'to'}{' '}
          <Link to="/app/$project/contacts/$contact" params={{ project, contact: email.contact.id }}>
            {email.sender ? withName(email.sender) : email.to}
          </Link>
        </span>
      }
      actions={<EmailActions email={email} isWaiting={isWaiting} onChoose={setDialog} />}
    >
      <div className="stack">
        <Note {...(state.tone ? { tone: state.tone } : {})}>
          <p className="break">
            {whyOf(email)}{' '}
            {email.status === 'PENDING' && isWaiting ? (
              <>
                It will be sent <Timestamp at={email.scheduledFor ?? email.heldUntil} />.
              </>
            ) : null}
          </p>
        </Note>
        <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <Card>
            <Tabs
              label="Parts of the email"
              value={views.find(({ key }) => key === view)?.key ?? 'html'}
              tabs={views}
              onChange={(key) => change({ view: key === 'html' ? undefined : key })}
            />
          </Card>
          <div className="stack">
            <Card title="Timeline">
              <Timeline email={email} />
            </Card>
            <ClickedLinks email={email} />
            <Card title="Details">
              <Details email={email} />
            </Card>
          </div>
        </div>
      </div>
      {dialog === 'resend' ? (
        <ResendDialog email={email} onClose={() => setDialog(null)} />
      ) : dialog ? (
        <QueuedDialog change={dialog} email={email} onClose={() => setDialog(null)} />
      ) : null}
    </Page>
  );
}

function EmailActions({
  email,
  isWaiting,
  onChoose,
}: {
  email: Email;
  isWaiting: boolean;
  onChoose: (dialog: OpenDialog) => void;
}) {
  // Mail that was received is not the service's decision.
  const why =
    email.source === 'INBOUND' ? null : <WhyButton contact={email.contact.id} about={{ emailId: email.id }} />;
  if (isQueued(email))
    return (
      <>
        {why}
        <Button onClick={() => onChoose('move')}>{isWaiting ? 'Reschedule' : 'Schedule'}</Button>
        {isWaiting ? <Button onClick={() => onChoose('release')}>Send now</Button> : null}
        <Button variant="danger" onClick={() => onChoose('cancel')}>
          Cancel email
        </Button>
      </>
    );
  return (
    <>
      {why}
      {isResendable(email) ? (
        <Button variant="primary" onClick={() => onChoose('resend')}>
          Resend
        </Button>
      ) : null}
    </>
  );
}

function ClickedLinks({ email }: { email: Email }) {
  const links = clickedLinks(email);
  if (links.length === 0) return null;
  return (
    <Card title="Links clicked">
      <ul className="stack">
        {links.map(({ link, clicks }) => (
          <li key={link}>
            <div className="break font-medium">{link}</div>
            <div className="text-sm text-muted">{counted(clicks, 'click')}</div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
