import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { toast } from '../../ui/toasts.tsx';
import { count, rate } from '../../words/numbers.ts';
import { mayAdminister, type Project } from './project.ts';

const kinds = [
  ['workflows', 'Workflows'],
  ['campaigns', 'Campaigns'],
  ['transactional', 'Transactional'],
  ['inbound', 'Received'],
] as const;
type Kind = (typeof kinds)[number][0];

/** How much mail of each kind the project has sent this month, and how much it may. */
export function Limits({ project }: { project: Project }) {
  const [changing, setChanging] = useState(false);
  const queries = useQueryClient();
  const key = ['billing-limits', project.id];
  const limits = useQuery({
    queryKey: key,
    queryFn: () => answer(api.GET('/users/@me/projects/{id}/billing-limits', { params: { path: { id: project.id } } })),
  });
  return (
    <Card title="Emails this month">
      <Shown query={limits}>
        {(result) => (
          <div className="stack">
            {result.daily ? <Daily {...result.daily} /> : null}
            <Table
              label="Emails this month by type"
              rows={kinds.map(([kind, name]) => ({ kind, name, ...result[kind] }))}
              rowKey={({ kind }) => kind}
              columns={[
                { key: 'name', title: 'Type', cell: ({ name }) => name },
                { key: 'used', title: 'Used', number: true, cell: ({ usage }) => count(usage) },
                {
                  key: 'limit',
                  title: 'Limit',
                  number: true,
                  cell: ({ limit }) => (limit === null ? 'None' : count(limit)),
                },
                {
                  key: 'state',
                  title: 'Status',
                  cell: ({ isBlocked, isWarning, limit, percentage }) =>
                    isBlocked ? (
                      <Badge tone="bad">Limit reached: sending stopped</Badge>
                    ) : isWarning ? (
                      <Badge tone="warn">{rate(Math.round(percentage))} used</Badge>
                    ) : limit === null ? (
                      <span className="muted">No limit</span>
                    ) : (
                      <Badge tone="good">{rate(Math.round(percentage))} used</Badge>
                    ),
                },
              ]}
            />
            {mayAdminister(project) ? (
              <div>
                <Button onClick={() => setChanging(true)}>Change limits</Button>
              </div>
            ) : null}
            {changing ? (
              <LimitsDialog
                project={project}
                limits={
                  Object.fromEntries(kinds.map(([kind]) => [kind, result[kind].limit])) as Record<Kind, number | null>
                }
                onClose={() => setChanging(false)}
                onSaved={() => queries.invalidateQueries({ queryKey: key })}
              />
            ) : null}
          </div>
        )}
      </Shown>
    </Card>
  );
}

function Daily({ usage, limit, isBlocked }: { usage: number; limit: number | null; isBlocked: boolean }) {
  return (
    <Note tone={isBlocked ? 'bad' : 'warn'}>
      {count(usage)} of {count(limit ?? 0)} emails sent today (UTC). New projects have a daily limit until the operator
      of this service approves them.
    </Note>
  );
}

function LimitsDialog({
  project,
  limits,
  onClose,
  onSaved,
}: {
  project: Project;
  limits: Record<Kind, number | null>;
  onClose: () => void;
  onSaved: () => Promise<void>;
}) {
  const [texts, setTexts] = useState(
    Object.fromEntries(kinds.map(([kind]) => [kind, limits[kind]?.toString() ?? ''])) as Record<Kind, string>,
  );
  const save = useMutation({
    mutationFn: () => {
      const limitOf = (kind: Kind) => (texts[kind].trim() === '' ? null : Number(texts[kind]));
      return answer(
        api.PUT('/users/@me/projects/{id}/billing-limits', {
          params: { path: { id: project.id } },
          body: {
            workflows: limitOf('workflows'),
            campaigns: limitOf('campaigns'),
            transactional: limitOf('transactional'),
            inbound: limitOf('inbound'),
          },
        }),
      );
    },
    onSuccess: async () => {
      await onSaved();
      toast('Limits saved');
      onClose();
    },
  });
  return (
    <Dialog
      title="Monthly limits"
      description="Emails of each type. Leave a field empty for no limit."
      onClose={onClose}
    >
      <Form onSubmit={() => save.mutate()}>
        <FormProblem error={save.error} fields={kinds.map(([kind]) => kind)} />
        {kinds.map(([kind, name]) => (
          <TextField
            key={kind}
            label={name}
            type="number"
            min={1}
            step={1}
            placeholder="No limit"
            value={texts[kind]}
            problem={problemOf(save.error, kind)}
            onChange={(event) => setTexts({ ...texts, [kind]: event.target.value })}
          />
        ))}
        <footer>
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" variant="primary" busy={save.isPending}>
            Save limits
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
