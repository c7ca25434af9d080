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
import { clickedLinks, type Email, isQueued, isResendable, isUnderWay, sources, stateOf, whyOf } from './email.ts';
import { type Change, QueuedDialog } from './QueuedDialog.tsx';
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

function OneEmail({ email }: { email: Email }) {
  const project = useProjectId();
  const [{ view }, change] = useFilters();
  const [dialog, setDialog] = useState<Change | 'resend' | null>(null);
  const state = stateOf(email);
  const links = clickedLinks(email);
  const isWaiting = email.scheduledFor !== null || email.heldUntil !== null;
  // Mail that was received is not the service's decision.
  const why =
    email.source === 'INBOUND' ? null : <WhyButton contact={email.contact.id} about={{ emailId: email.id }} />;
  const views = [
    { key: 'html', name: 'Email', content: <Content email={email} /> },
    { key: 'text', name: 'Text', content: <Text text={email.text ?? null} /> },
    { key: 'headers', name: 'Headers', content: <Headers email={email} /> },
  ];
  return (
    <Page
      title={email.subject || 'No subject'}
      above={
        <Link to="/app/$project/emails" params={{ project }}>
          Emails
        </Link>
      }
      about={
        <span className="row">
          <Badge tone={state.tone}>{state.name}</Badge> to{' '}
          <Link to="/app/$project/contacts/$contact" params={{ project, contact: email.contact.id }}>
            {email.to}
          </Link>
        </span>
      }
      actions={
        isQueued(email) ? (
          <>
            {why}
            <Button onClick={() => setDialog('move')}>{isWaiting ? 'Reschedule' : 'Schedule'}</Button>
            {isWaiting ? <Button onClick={() => setDialog('release')}>Send now</Button> : null}
            <Button look="danger" onClick={() => setDialog('cancel')}>
              Cancel email
            </Button>
          </>
        ) : (
          <>
            {why}
            {isResendable(email) ? (
              <Button look="primary" onClick={() => setDialog('resend')}>
                Resend
              </Button>
            ) : null}
          </>
        )
      }
    >
      <div className="stack">
        <Note {...(state.tone ? { tone: state.tone } : {})}>
          <p className="break">
            {whyOf(email)}{' '}
            {email.status === 'PENDING' && isWaiting ? (
              <>
                It leaves <Timestamp at={email.scheduledFor ?? email.heldUntil} />.
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
            {links.length > 0 ? (
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
            ) : null}
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

function Details({ email }: { email: Email }) {
  const project = useProjectId();
  const tags = Object.entries(email.tags);
  return (
    <dl className="facts">
      <dt>Source</dt>
      <dd>
        {email.campaignId ? (
          <Link to="/app/$project/campaigns/$campaign" params={{ project, campaign: email.campaignId }}>
            Campaign
          </Link>
        ) : (
          sources[email.source]
        )}
      </dd>
      {email.campaignVersion !== null ? (
        <>
          <dt>Content</dt>
          <dd>
            <Badge>{`Version ${email.campaignVersion}`}</Badge>
          </dd>
        </>
      ) : null}
      {email.templateId ? (
        <>
          <dt>Template</dt>
          <dd>
            <Link to="/app/$project/templates/$template" params={{ project, template: email.templateId }}>
              Open template
            </Link>
          </dd>
        </>
      ) : null}
      {tags.length > 0 ? (
        <>
          <dt>Tags</dt>
          <dd>
            {tags.map(([name, value]) => (
              <div key={name}>
                <Link to="/app/$project/emails" params={{ project }} search={{ tag: `${name}:${value}` }}>
                  {name}: {value}
                </Link>
              </div>
            ))}
          </dd>
        </>
      ) : null}
      {email.resendOf ? (
        <>
          <dt>Resend of</dt>
          <dd>
            <Link to="/app/$project/emails/$email" params={{ project, email: email.resendOf }}>
              Earlier email
            </Link>
          </dd>
        </>
      ) : null}
      {email.resends.length > 0 ? (
        <>
          <dt>Resent as</dt>
          <dd>
            {email.resends.map((resend, index) => (
              <div key={resend}>
                <Link to="/app/$project/emails/$email" params={{ project, email: resend }}>
                  Resend {index + 1}
                </Link>
              </div>
            ))}
          </dd>
        </>
      ) : null}
      {email.provider ? (
        <>
          <dt>Provider</dt>
          <dd>{email.provider}</dd>
        </>
      ) : null}
      {email.messageId ? (
        <>
          <dt>Message ID</dt>
          <dd>
            <code>{email.messageId}</code>
          </dd>
        </>
      ) : null}
      {email.attempts ? (
        <>
          <dt>Attempts</dt>
          <dd>{email.attempts}</dd>
        </>
      ) : null}
      <dt>Email ID</dt>
      <dd>
        <code>{email.id}</code>
      </dd>
    </dl>
  );
}

function Text({ text }: { text: string | null }) {
  if (text === null || text === '') return <p className="muted">There is no text part to show.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section className="max-h-[70dvh] overflow-auto" tabIndex={0} aria-label="Text part">
      <pre className="break text-sm whitespace-pre-wrap">{text}</pre>
    </section>
  );
}

function Headers({ email }: { email: Email }) {
  const from = email.fromName ? `${email.fromName} <${email.from}>` : email.from;
  const headers: [string, string | null][] = [
    ['From', from],
    ['To', email.to],
    ['Reply-To', email.replyTo],
    ['Subject', email.subject],
    ['Message-ID', email.messageId],
    ...Object.entries(email.headers ?? {}),
  ];
  return (
    <dl className="facts">
      {headers.flatMap(([name, value]) =>
        value === null
          ? []
          : [
              <dt key={`${name} name`}>{name}</dt>,
              <dd key={name} dir="auto">
                {value}
              </dd>,
            ],
      )}
    </dl>
  );
}
