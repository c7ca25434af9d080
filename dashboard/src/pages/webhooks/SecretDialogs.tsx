import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form, FormProblem } from '../../ui/Form.tsx';
import { RotateDialog } from '../../ui/RotateDialog.tsx';
import { AttemptResult } from './AttemptResult.tsx';
import type { Endpoint } from './endpoint.ts';

const overlaps = { '0': 'Immediately', '1': 'In 1 hour', '24': 'In 24 hours', '72': 'In 3 days' } as const;

/** Gives an endpoint a new secret; for a while calls are signed with both. */
export function RotateSecretDialog({
  endpoint,
  onRotated,
  onClose,
}: {
  endpoint: Endpoint;
  onRotated: (secret: string) => void;
  onClose: () => void;
}) {
  return (
    <RotateDialog
      title="Rotate signing secret?"
      label="Old secret expires"
      hint="Until then, requests are signed with both secrets, and your endpoint can verify either."
      overlaps={overlaps}
      action="Rotate secret"
      rotate={async (overlapHours) => {
        const path = { id: endpoint.id };
        const rotated = api.POST('/webhook-endpoints/{id}/rotate-secret', { params: { path }, body: { overlapHours } });
        onRotated((await answer(rotated)).secret);
      }}
      onClose={onClose}
    />
  );
}

/** Calls an endpoint with a made-up event and shows what it answers. */
export function TestCallDialog({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const [type, setType] = useState(endpoint.events.find((name) => !name.includes('*')) ?? 'test.event');
  const test = useMutation({
    mutationFn: () =>
      answer(api.POST('/webhook-endpoints/{id}/test', { params: { path: { id: endpoint.id } }, body: { type } })),
  });
  return (
    <Dialog
      title="Send test event"
      description="A sample event, signed like any other. It is not logged, and not sent again if it fails."
      onClose={onClose}
    >
      <Form onSubmit={() => test.mutate()}>
        <TextField label="Event" required value={type} onChange={(event) => setType(event.target.value)} />
        <FormProblem error={test.error} fields={[]} />
        {test.data ? <AttemptResult attempt={test.data} /> : null}
        <footer>
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" variant="primary" busy={test.isPending}>
            Send test event
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
