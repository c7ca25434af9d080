import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { usePages } from '../../app/pages.ts';
import { Address } from '../../ui/Address.tsx';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { Empty, Shown } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { subjectText } from '../../words/subjects.ts';
import { WhyButton } from '../explain/Why.tsx';

/** Mail that rules have caught, newest first. */
export function SuppressedMail() {
  const project = useProjectId();
  const [shown, setShown] = useState<string | null>(null);
  const mail = usePages({
    queryKey: ['suppressions', project, 'mail'],
    fetchPage: (cursor, signal) =>
      answer(api.GET('/suppressions/emails', { params: { query: { limit: 100, cursor } }, signal })),
  });
  return (
    <>
      <EndlessRows
        label="Suppressed emails"
        query={mail}
        rowsOf={(page) => page.emails}
        rowKey={({ id }) => id}
        empty={<Empty title="No suppressed emails">Emails that a rule suppresses appear here.</Empty>}
      >
        {(email) => (
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1 @2xl:grid @2xl:grid-cols-[minmax(0,3fr)_minmax(0,4fr)_minmax(0,2fr)_9rem_auto_auto]">
            <Address>{email.recipientAddress}</Address>
            <span className="break" dir="auto">
              {email.renderedSubject}
            </span>
            <span className="break muted">{email.suppression.name}</span>
            <span className="muted">
              <Timestamp at={email.createdAt} />
            </span>
            <Button
              size="small"
              aria-label={`Show the email to ${email.recipientAddress}`}
              onClick={() => setShown(email.id)}
            >
              Show
            </Button>
            <WhyButton
              contact={email.recipientAddress}
              about={{ emailId: email.id }}
              row={`Email to ${email.recipientAddress}`}
            />
          </div>
        )}
      </EndlessRows>
      {shown ? <OneMail id={shown} onClose={() => setShown(null)} /> : null}
    </>
  );
}

function OneMail({ id, onClose }: { id: string; onClose: () => void }) {
  const project = useProjectId();
  const mail = useQuery({
    queryKey: ['suppressions', project, 'mail', id],
    queryFn: () => answer(api.GET('/suppressions/emails/{id}', { params: { path: { id } } })),
  });
  return (
    <Dialog title="Suppressed email" onClose={onClose}>
      <Shown query={mail}>
        {({ subject, from, recipientAddress, suppression, body }) => (
          <div className="stack">
            <dl className="facts">
              <dt>To</dt>
              <dd>{recipientAddress}</dd>
              <dt>From</dt>
              <dd>{from}</dd>
              <dt>Subject</dt>
              <dd dir="auto">{subjectText(subject)}</dd>
              <dt>Suppressed by</dt>
              <dd>
                {suppression.name}, <Timestamp at={suppression.matchedAt} />
              </dd>
            </dl>
            <iframe
              className="h-96 w-full rounded-lg border border-line bg-white"
              title="Body of the email"
              sandbox=""
              srcDoc={body}
            />
          </div>
        )}
      </Shown>
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  );
}
