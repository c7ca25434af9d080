import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { CheckField, TextArea } from '../../ui/Field.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { count, counted } from '../../words/numbers.ts';
import type { Segment } from './segment.ts';

/** Puts people into a segment by their addresses, or takes them out. */
export function MembersDialog({
  segment: { id, name },
  mode,
  onClose,
  onDone,
}: {
  segment: Segment;
  mode: 'add' | 'remove';
  onClose: () => void;
  onDone: () => Promise<unknown>;
}) {
  const [text, setText] = useState('');
  const [createMissing, setCreateMissing] = useState(false);
  const [subscribed, setSubscribed] = useState(true);
  const emails = [...new Set(text.split(/[\s,;]+/).filter((each) => each !== ''))];
  const change = useMutation({
    mutationFn: async () => {
      const params = { path: { id } };
      if (mode === 'add')
        return answer(api.POST('/segments/{id}/members', { params, body: { emails, createMissing, subscribed } }));
      const { removed } = await answer(api.DELETE('/segments/{id}/members', { params, body: { emails } }));
      return { removed };
    },
    onSuccess: onDone,
  });
  const done = change.data;
  return (
    <Dialog title={mode === 'add' ? `Add contacts to ${name}` : `Remove contacts from ${name}`} onClose={onClose}>
      <div className="stack">
        {done ? (
          <Note tone="good">
            {'added' in done
              ? `${count(done.added)} added to the segment, ${counted(done.created, 'contact')} were created.`
              : `${counted(done.removed, 'contact')} removed from the segment.`}
          </Note>
        ) : (
          <>
            <TextArea
              label="Email addresses"
              hint="One per line, or separated by commas."
              rows={8}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
            {mode === 'add' ? (
              <MissingContacts
                createMissing={createMissing}
                subscribed={subscribed}
                onCreate={setCreateMissing}
                onSubscribe={setSubscribed}
              />
            ) : null}
          </>
        )}
        {done && 'notFound' in done && done.notFound.length > 0 ? <NotFound emails={done.notFound} /> : null}
        {change.error ? <Problem error={change.error} /> : null}
      </div>
      <footer>
        <Button onClick={onClose}>Close</Button>
        {done ? null : (
          <Button
            variant={mode === 'add' ? 'primary' : 'danger'}
            busy={change.isPending}
            disabled={emails.length === 0}
            onClick={() => change.mutate()}
          >
            {mode === 'add' ? 'Add' : 'Remove'} {emails.length > 0 ? count(emails.length) : ''}
          </Button>
        )}
      </footer>
    </Dialog>
  );
}

/** The choices for addresses without a contact. */
function MissingContacts({
  createMissing,
  subscribed,
  onCreate,
  onSubscribe,
}: {
  createMissing: boolean;
  subscribed: boolean;
  onCreate: (create: boolean) => void;
  onSubscribe: (subscribe: boolean) => void;
}) {
  return (
    <>
      <CheckField
        label="Create contacts that do not exist"
        checked={createMissing}
        onChange={(event) => onCreate(event.target.checked)}
      />
      {createMissing ? (
        <CheckField
          label="Subscribe new contacts"
          hint="Only with their consent. Existing contacts don’t change."
          checked={subscribed}
          onChange={(event) => onSubscribe(event.target.checked)}
        />
      ) : null}
    </>
  );
}

function NotFound({ emails }: { emails: readonly string[] }) {
  return (
    <Note tone="warn">
      <p>{count(emails.length)} not found or not valid:</p>
      <ul className="break">
        {emails.slice(0, 50).map((email) => (
          <li key={email}>{email}</li>
        ))}
      </ul>
      {emails.length > 50 ? <p>… and {count(emails.length - 50)} more.</p> : null}
    </Note>
  );
}
