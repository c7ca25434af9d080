import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { NamedAddress } from '../../../ui/NamedAddress.tsx';
import { Pager } from '../../../ui/Pager.tsx';
import { Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { stepText } from '../../../words/events.ts';
import type { Step } from '../graph/shapes.ts';
import { executionStates } from '../workflow.ts';

/** Who stands at a step now, and since when. */
export function PeopleDialog({
  workflow,
  step,
  onClose,
}: {
  workflow: string;
  step: Pick<Step, 'id' | 'name'>;
  onClose: () => void;
}) {
  const project = useProjectId();
  const [page, setPage] = useState(1);
  const people = useQuery({
    queryKey: ['workflows', project, workflow, 'at', step.id, page],
    refetchInterval: 5_000,
    placeholderData: (before) => before,
    queryFn: () =>
      answer(
        api.GET('/workflows/{id}/executions', {
          params: { path: { id: workflow }, query: { stepId: step.id, page, pageSize: 20 } },
        }),
      ),
  });
  return (
    <Dialog title={`Contacts at ${stepText(step.name)}`} onClose={onClose}>
      <Shown query={people}>
        {(found) =>
          found.total === 0 ? (
            <p>No contacts at this step.</p>
          ) : (
            <div>
              <Table
                label={`Contacts at ${stepText(step.name)}`}
                rows={found.data}
                rowKey={({ id }) => id}
                columns={[
                  {
                    key: 'contact',
                    title: 'Contact',
                    cell: ({ id, contact }) => (
                      <Link
                        to="/app/$project/workflows/$workflow/executions/$execution"
                        params={{ project, workflow, execution: id }}
                      >
                        <NamedAddress {...contact} />
                      </Link>
                    ),
                  },
                  {
                    key: 'status',
                    title: 'Status',
                    cell: ({ status }) => (
                      <Badge tone={executionStates[status].tone}>{executionStates[status].name}</Badge>
                    ),
                  },
                  {
                    key: 'since',
                    title: 'At this step since',
                    cell: ({ currentStepSince, startedAt }) => <Timestamp at={currentStepSince ?? startedAt} />,
                  },
                ]}
              />
              <Pager found={found} onChange={setPage} />
            </div>
          )
        }
      </Shown>
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  );
}
