import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { TextField } from '../../../ui/Field.tsx';
import { Card } from '../../../ui/Page.tsx';
import { useIsOwner } from '../../settings/project.ts';

type Erasure = components['schemas']['Erasure'];

/** Whether the erased address can come back, and how an owner lets it. */
export function SuppressionCard({ erasure }: { erasure: Erasure }) {
  const [lifting, setLifting] = useState(false);
  const isOwner = useIsOwner();
  const { suppressed, keepSuppressed, status } = erasure;
  return (
    <Card title="Address">
      <p>
        {suppressed
          ? 'The address is suppressed: no one can add it or send to it.'
          : keepSuppressed
            ? 'The suppression was lifted: the address can be added again, except by an import.'
            : 'The address is not suppressed: it can be added again, except by an import.'}
      </p>
      {suppressed && status !== 'RUNNING' && isOwner ? (
        <div className="mt-2">
          <Button onClick={() => setLifting(true)}>Lift suppression</Button>
        </div>
      ) : null}
      {lifting ? <LiftDialog id={erasure.id} onClose={() => setLifting(false)} /> : null}
    </Card>
  );
}

function LiftDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const lift = async () => {
    await answer(api.POST('/erasures/{id}/lift', { params: { path: { id } }, body: { reason: reason.trim() } }));
    await queries.invalidateQueries({ queryKey: ['erasures', project, id] });
  };
  return (
    <ConfirmDialog
      title="Let this address be added again?"
      action="Lift suppression"
      wayOut="Keep suppressed"
      variant="primary"
      isReady={reason.trim() !== ''}
      onConfirm={lift}
      onClose={onClose}
    >
      <div className="stack">
        <p>Only do this when the owner of the address has asked for email again. What was erased stays erased.</p>
        <TextField
          label="Reason"
          hint="Kept in the audit log, so don’t include personal data."
          required
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
    </ConfirmDialog>
  );
}
