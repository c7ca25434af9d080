import { CalendarClock, Send, X } from 'lucide-react';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { usePages } from '../../app/pages.ts';
import { Button } from '../../ui/Button.tsx';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { Empty } from '../../ui/States.tsx';
import { EmailRow } from './EmailRow.tsx';
import type { EmailSummary } from './email.ts';
import { type QueueChange, QueuedDialog } from './QueuedDialog.tsx';

/** Mail that waits for the time its sender chose, the next to leave first. */
export function Scheduled() {
  const project = useProjectId();
  const [dialog, setDialog] = useState<{ change: QueueChange; email: EmailSummary } | null>(null);
  const emails = usePages({
    queryKey: ['emails', project, 'scheduled'],
    refetchInterval: 15_000,
    fetchPage: (cursor, signal) =>
      answer(api.GET('/emails', { params: { query: { scheduled: 'true', limit: 50, cursor } }, signal })),
  });
  return (
    <>
      <EndlessRows
        label="Scheduled emails"
        query={emails}
        rowsOf={(page) => page.data}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No scheduled emails">
            Emails sent with <code>scheduledFor</code> or <code>hold</code> wait here, and can be canceled.
          </Empty>
        }
      >
        {(email) => (
          <EmailRow email={email}>
            <span className="row">
              <Button
                size="small"
                aria-label={`Reschedule the email to ${email.to}`}
                onClick={() => setDialog({ change: 'move', email })}
              >
                <CalendarClock aria-hidden /> Reschedule
              </Button>
              <Button
                size="small"
                aria-label={`Send now to ${email.to}`}
                onClick={() => setDialog({ change: 'release', email })}
              >
                <Send aria-hidden /> Send now
              </Button>
              <Button
                size="small"
                variant="danger"
                aria-label={`Cancel the email to ${email.to}`}
                onClick={() => setDialog({ change: 'cancel', email })}
              >
                <X aria-hidden /> Cancel
              </Button>
            </span>
          </EmailRow>
        )}
      </EndlessRows>
      {dialog ? <QueuedDialog {...dialog} onClose={() => setDialog(null)} /> : null}
    </>
  );
}
