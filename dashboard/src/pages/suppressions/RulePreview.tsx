import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { ruleKinds } from './rule.ts';

/** Asks what would become of mail to an address. */
export function RulePreview() {
  const [address, setAddress] = useState('');
  const preview = useMutation({
    mutationFn: async (asked: string) => ({
      asked,
      ...(await answer(api.POST('/suppressions/preview', { body: { address: asked } }))),
    }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    preview.mutate(address);
  };
  return (
    <Card title="Test an address">
      <form className="filters" onSubmit={submit}>
        <TextField
          label="Address"
          type="email"
          required
          value={address}
          onChange={(event) => setAddress(event.target.value)}
        />
        <Button type="submit" busy={preview.isPending}>
          Test
        </Button>
      </form>
      {preview.error ? <Problem error={preview.error} /> : null}
      {preview.data ? (
        <div aria-live="polite">
          {preview.data.match ? (
            <Note tone="warn">
              <span className="break">{preview.data.asked}</span> is suppressed by “{preview.data.match.name}” (
              {ruleKinds[preview.data.match.kind].name.toLowerCase()}: <code>{preview.data.match.pattern}</code>).
            </Note>
          ) : (
            <Note tone="good">
              No rule suppresses email to <span className="break">{preview.data.asked}</span>.
            </Note>
          )}
        </div>
      ) : null}
    </Card>
  );
}
