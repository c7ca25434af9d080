import { Link } from '@tanstack/react-router';
import { useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Fact } from '../../ui/Fact.tsx';
import { type Email, sources, subjectOf, withName } from './email.ts';

/** Where an email came from, and by what it is found elsewhere. */
export function Details({ email }: { email: Email }) {
  const project = useProjectId();
  const { campaignId, campaignVersion, templateId, resendOf, resends, messageId } = email;
  return (
    <dl className="facts">
      <Fact name="Source">
        {campaignId ? (
          <Link to="/app/$project/campaigns/$campaign" params={{ project, campaign: campaignId }}>
            Campaign
          </Link>
        ) : (
          sources[email.source]
        )}
      </Fact>
      <Fact name="Content">{campaignVersion === null ? null : <Badge>{`Version ${campaignVersion}`}</Badge>}</Fact>
      <Fact name="Template">
        {templateId ? (
          <Link to="/app/$project/templates/$template" params={{ project, template: templateId }}>
            Open template
          </Link>
        ) : null}
      </Fact>
      <Tags tags={email.tags} />
      <Fact name="Resend of">{resendOf ? <EmailLink email={resendOf} text="Earlier email" /> : null}</Fact>
      <Fact name="Resent as">
        {resends.length === 0
          ? null
          : resends.map((resend, index) => (
              <div key={resend}>
                <EmailLink email={resend} text={`Resend ${index + 1}`} />
              </div>
            ))}
      </Fact>
      <Fact name="Provider">{email.provider}</Fact>
      <Fact name="Message ID">{messageId ? <code>{messageId}</code> : null}</Fact>
      <Fact name="Attempts">{email.attempts || null}</Fact>
      <Fact name="Email ID">
        <code>{email.id}</code>
      </Fact>
    </dl>
  );
}

function EmailLink({ email, text }: { email: string; text: string }) {
  const project = useProjectId();
  return (
    <Link to="/app/$project/emails/$email" params={{ project, email }}>
      {text}
    </Link>
  );
}

function Tags({ tags }: { tags: Email['tags'] }) {
  const project = useProjectId();
  const pairs = Object.entries(tags);
  if (pairs.length === 0) return null;
  return (
    <Fact name="Tags">
      {pairs.map(([name, value]) => (
        <div key={name}>
          <Link to="/app/$project/emails" params={{ project }} search={{ tag: `${name}:${value}` }}>
            {name}: {value}
          </Link>
        </div>
      ))}
    </Fact>
  );
}

/** The text part of an email. */
export function TextPart({ text }: { text: string | null }) {
  if (text === null || text === '') return <p className="muted">There is no text part to show.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section className="max-h-[70dvh] overflow-auto" tabIndex={0} aria-label="Text part">
      <pre className="break text-sm whitespace-pre-wrap">{text}</pre>
    </section>
  );
}

/** The headers of an email as mail clients show them. */
export function Headers({ email }: { email: Email }) {
  const headers: [string, string | null][] = [
    ['From', withName(email.sender ?? { email: email.from, name: email.fromName })],
    ['To', email.to],
    ['Reply-To', email.replyTo],
    ['Subject', subjectOf(email)],
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
