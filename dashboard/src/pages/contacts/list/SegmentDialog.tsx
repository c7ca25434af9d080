import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { SelectField, TextField } from '../../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../../ui/Form.tsx';
import { Shown } from '../../../ui/States.tsx';
import { counted } from '../../../words/numbers.ts';
import type { Chosen } from './BulkDialog.tsx';

/** Puts many contacts into a static segment, one that there is or a new one. */
export function SegmentDialog({
  chosen,
  onQueued,
  onClose,
}: {
  chosen: Chosen;
  onQueued: (jobId: string) => void;
  onClose: () => void;
}) {
  const project = useProjectId();
  const [segment, setSegment] = useState('');
  const [name, setName] = useState('');
  const segments = useQuery({ queryKey: ['segments', project], queryFn: () => answer(api.GET('/segments')) });
  const add = useMutation({
    mutationFn: async () => {
      const segmentId =
        segment || (await answer(api.POST('/segments', { body: { name: name.trim(), type: 'STATIC' } }))).id;
      // A second attempt must not make a second segment.
      setSegment(segmentId);
      return answer(api.POST('/contacts/bulk-add-to-segment', { body: { segmentId, ...chosen.selector } }));
    },
    onSuccess: ({ jobId }) => {
      onQueued(jobId);
      onClose();
    },
  });
  return (
    <Dialog title={`Add ${counted(chosen.count, 'contact')} to a segment`} onClose={onClose}>
      <Shown query={segments}>
        {(all) => (
          <Form onSubmit={() => add.mutate()}>
            <FormProblem error={add.error} fields={['name']} />
            <SelectField label="Segment" value={segment} onChange={(event) => setSegment(event.target.value)}>
              <option value="">New segment</option>
              {all
                .filter(({ type }) => type === 'STATIC')
                .map((each) => (
                  <option key={each.id} value={each.id}>
                    {each.name}
                  </option>
                ))}
            </SelectField>
            {segment === '' ? (
              <TextField
                label="Name of the new segment"
                required
                maxLength={100}
                value={name}
                problem={problemOf(add.error, 'name')}
                onChange={(event) => setName(event.target.value)}
              />
            ) : null}
            <footer>
              <Button onClick={onClose}>Cancel</Button>
              <Button
                type="submit"
                variant="primary"
                busy={add.isPending}
                disabled={segment === '' && name.trim() === ''}
              >
                Add contacts
              </Button>
            </footer>
          </Form>
        )}
      </Shown>
    </Dialog>
  );
}
