import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import { Shown } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { ownZone } from '../../words/times.ts';
import { instantOf, wallClock } from '../campaigns/rules/zones.ts';
import type { Project } from './project.ts';

type Holdout = components['schemas']['Holdout'];

/** The control group of a project: contacts that get no marketing email. */
export function HoldoutForm({ project, isAdmin }: { project: Project; isAdmin: boolean }) {
  const path = { id: project.id };
  const holdout = useQuery({
    queryKey: ['holdout', project.id],
    queryFn: () => answer(api.GET('/projects/{id}/holdout', { params: { path } })),
  });
  return (
    <Card title="Control group">
      <Shown query={holdout}>
        {(now) => <Fields key={JSON.stringify(now)} project={project} isAdmin={isAdmin} holdout={now} />}
      </Shown>
    </Card>
  );
}

function Fields({ project, isAdmin, holdout }: { project: Project; isAdmin: boolean; holdout: Holdout }) {
  const [percent, setPercent] = useState(holdout.percent === 0 ? '' : String(holdout.percent));
  const [until, setUntil] = useState(holdout.until === null ? '' : wallClock(Date.parse(holdout.until), ownZone()));
  const [ending, setEnding] = useState(false);
  const queries = useQueryClient();
  const params = { path: { id: project.id } };
  const refresh = () => queries.invalidateQueries({ queryKey: ['holdout'] });
  const save = useMutation({
    mutationFn: () =>
      answer(
        api.PUT('/projects/{id}/holdout', {
          params,
          body: {
            percent: Number(percent),
            until: until === '' ? null : new Date(instantOf(until, ownZone())).toISOString(),
          },
        }),
      ),
    onSuccess: async () => {
      toast('Control group saved');
      await refresh();
    },
  });
  return (
    <Form onSubmit={() => save.mutate()}>
      <p className="muted">{stateOf(holdout)}</p>
      {holdout.active && holdout.until !== null ? (
        <p className="muted">
          Ends <Timestamp at={holdout.until} />
        </p>
      ) : null}
      <FormProblem error={save.error} fields={['percent', 'until']} />
      <TextField
        label="Percent of contacts"
        hint="A larger share keeps the contacts of a smaller one, so you can start small."
        type="number"
        required
        min={0}
        max={100}
        step={0.01}
        disabled={!isAdmin}
        value={percent}
        problem={problemOf(save.error, 'percent')}
        onChange={(event) => setPercent(event.target.value)}
      />
      <TextField
        label="Ends"
        hint="In your time zone. Leave empty to keep the group until you end it."
        type="datetime-local"
        disabled={!isAdmin}
        value={until}
        problem={problemOf(save.error, 'until')}
        onChange={(event) => setUntil(event.target.value)}
      />
      <div className="row">
        <Button type="submit" variant="primary" busy={save.isPending} disabled={!isAdmin}>
          Save control group
        </Button>
        {isAdmin && holdout.percent > 0 ? (
          <Button type="button" onClick={() => setEnding(true)}>
            End control group
          </Button>
        ) : null}
      </div>
      {ending ? <EndDialog project={project.id} onClose={() => setEnding(false)} /> : null}
    </Form>
  );
}

function EndDialog({ project, onClose }: { project: string; onClose: () => void }) {
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title="Send marketing email to everyone again?"
      action="End control group"
      wayOut="Keep it"
      variant="primary"
      onConfirm={async () => {
        await answer(api.DELETE('/projects/{id}/holdout', { params: { path: { id: project } } }));
        toast('Control group ended');
        await queries.invalidateQueries({ queryKey: ['holdout'] });
      }}
      onClose={onClose}
    >
      A later control group consists of other contacts, so results can’t be compared with this one.
    </ConfirmDialog>
  );
}

function stateOf({ percent, active }: Holdout): string {
  if (percent === 0)
    return 'Hold a random share of contacts out of all marketing email, and compare what they do with everyone else.';
  return active
    ? `${percent}% of contacts get no marketing email from campaigns, workflows or the API. Transactional email is sent.`
    : 'The control group has ended: everyone gets marketing email.';
}
