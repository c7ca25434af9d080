import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../ui/Button.tsx';
import { Problem } from '../../../ui/States.tsx';
import { locale } from '../../../words/numbers.ts';
import { ContactChoice } from '../executions/ContactChoice.tsx';

/** The next times at which something happens for a contact, as lines of text; `linesOf` asks for them. */
export function NextTimes({ linesOf }: { linesOf: (contactId: string) => Promise<string[]> }) {
  const [isOpen, setOpen] = useState(false);
  const [contactId, setContactId] = useState('');
  const next = useMutation({ mutationFn: linesOf });
  if (!isOpen)
    return (
      <Button size="small" onClick={() => setOpen(true)}>
        Show next times for a contact
      </Button>
    );
  return (
    <section className="stack" aria-label="Next times">
      <ContactChoice
        value={contactId}
        onChange={(chosen) => {
          setContactId(chosen);
          next.mutate(chosen);
        }}
      />
      {next.error ? <Problem error={next.error} /> : null}
      <ul aria-live="polite">
        {next.data?.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  );
}

/** Instants in the time zone that a test run has found, each followed by `suffix`, and the zone itself. */
export function timesIn(output: Record<string, unknown>, instants: readonly unknown[], suffix = ''): string[] {
  const zone = String(output.zone);
  const clock = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short', timeZone: zone });
  return [
    ...instants.map((at) => `${clock.format(Date.parse(String(at)))}${suffix}`),
    `Time zone: ${zone}${output.invalidZone ? ', because the contact’s own is invalid' : ''}.`,
  ];
}
