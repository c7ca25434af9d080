import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Problem, Shown } from '../../ui/States.tsx';
import { type About, type Explanation, Trail } from './Trail.tsx';

const explain = (contact: string, about: About) => answer(api.POST('/explain', { body: { contact, about } }));

/** Asks why a contact received something, or didn’t, and shows the answer. In a row of a list, `row` says which one it is. */
export function WhyButton({ contact, about, row }: { contact: string; about: About; row?: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        {...(row === undefined ? {} : { size: 'small', variant: 'plain', 'aria-label': `Why? ${row}` })}
        onClick={() => setOpen(true)}
      >
        Why?
      </Button>
      {isOpen ? <WhyDialog contact={contact} about={about} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function WhyDialog({ contact, about, onClose }: { contact: string; about: About; onClose: () => void }) {
  const project = useProjectId();
  const explanation = useQuery({
    queryKey: ['explain', project, contact, about],
    queryFn: () => explain(contact, about),
    // Every answer counts against the minute's limit, and it is asked for anew by opening the dialog again.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  return (
    <Dialog title="Why?" onClose={onClose}>
      <Shown query={explanation}>
        {(found) => <Answer explanation={found} onFixed={() => void explanation.refetch()} />}
      </Shown>
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  );
}

/** Asks about any contact, by address: those whom a campaign or a workflow left out are in no list. */
export function AskWhy({ about }: { about: About }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Explain a contact</Button>
      {isOpen ? <AskDialog about={about} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function AskDialog({ about, onClose }: { about: About; onClose: () => void }) {
  const [address, setAddress] = useState('');
  const ask = useMutation({ mutationFn: () => explain(address.trim(), about) });
  return (
    <Dialog
      title="Explain a contact"
      description="Find out why a contact did or did not receive this."
      onClose={onClose}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          ask.mutate();
        }}
      >
        <TextField
          label="Email address"
          type="email"
          required
          value={address}
          onChange={({ target }) => setAddress(target.value)}
        />
        {ask.error ? <Problem error={ask.error} /> : null}
        {ask.data ? <Answer explanation={ask.data} onFixed={() => ask.mutate()} /> : null}
        <footer>
          <Button onClick={onClose}>Close</Button>
          <Button variant="primary" type="submit" busy={ask.isPending}>
            Explain
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function Answer({ explanation, onFixed }: { explanation: Explanation; onFixed: () => void }) {
  const project = useProjectId();
  return (
    <>
      <Trail explanation={explanation} onFixed={onFixed} />
      <Link to="/app/$project/why/$permalink" params={{ project, permalink: explanation.permalink }}>
        Link to this explanation
      </Link>
    </>
  );
}
