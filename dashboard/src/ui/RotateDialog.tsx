import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from './Button.tsx';
import { Dialog } from './Dialog.tsx';
import { SelectField } from './Field.tsx';
import { Form, FormProblem } from './Form.tsx';

/** Replaces a secret by a new one; for the chosen hours the old one stays valid. */
export function RotateDialog({
  title,
  description,
  label,
  hint,
  overlaps,
  action,
  rotate,
  onClose,
}: {
  title: string;
  description?: ReactNode;
  label: string;
  hint?: string;
  /** Label of each number of hours. */
  overlaps: Readonly<Record<string, string>>;
  /** Label of its button. */
  action: string;
  rotate: (overlapHours: number) => Promise<unknown>;
  onClose: () => void;
}) {
  const [hours, setHours] = useState('24');
  const rotating = useMutation({ mutationFn: () => rotate(Number(hours)) });
  return (
    <Dialog title={title} description={description} onClose={onClose}>
      <Form onSubmit={() => rotating.mutate()}>
        <SelectField label={label} hint={hint} value={hours} onChange={(event) => setHours(event.target.value)}>
          {Object.entries(overlaps).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </SelectField>
        <FormProblem error={rotating.error} fields={[]} />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={rotating.isPending}>
            {action}
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
