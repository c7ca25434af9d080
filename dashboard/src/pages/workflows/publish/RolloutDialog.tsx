import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Field, TextField } from '../../../ui/Field.tsx';
import { Note, Problem, Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { count, counted } from '../../../words/numbers.ts';
import type { Editing } from '../designer/editing.ts';
import { rateText } from '../GoalResult.tsx';
import type { PutGraph, Workflow } from '../workflow.ts';

type Report = components['schemas']['WorkflowRolloutReport'];
type Rollout = NonNullable<Workflow['rollout']>;

/** What was chosen about a rollout; at 100 percent there is none. Texts are what was typed. */
export interface RolloutChoice {
  percent: number;
  days: string;
  failureRate: string;
  unsubscribeRate: string;
}

/** Publishes for all new contacts. */
export const forAll: RolloutChoice = { percent: 100, days: '7', failureRate: '5', unsubscribeRate: '2' };

/** The choice as the service takes it; undefined for all new contacts. */
export function rolloutOf({ percent, days, ...limits }: RolloutChoice): PutGraph['rollout'] {
  if (percent === 100) return undefined;
  const limit = (text: string) => (text.trim() === '' ? null : Number(text));
  const stopIf = { failureRate: limit(limits.failureRate), unsubscribeRate: limit(limits.unsubscribeRate) };
  return { percent, days: Number(days), stopIf };
}

function ShareSlider({
  label,
  percent,
  max,
  onChange,
}: {
  label: string;
  percent: number;
  max: number;
  onChange: (percent: number) => void;
}) {
  return (
    <Field label={label}>
      {({ className: _, ...described }) => (
        <span className="flex items-center gap-3">
          <input
            {...described}
            className="h-8 min-w-0 flex-1 cursor-pointer accent-[var(--accent-9)]"
            type="range"
            min={1}
            max={max}
            value={percent}
            aria-valuetext={`${percent}% of new contacts`}
            onChange={(event) => onChange(Number(event.target.value))}
          />
          <output className="w-12 text-end tabular-nums">{percent}%</output>
        </span>
      )}
    </Field>
  );
}

/** Chooses the share of new contacts who get a version first, and what takes it back. */
export function RolloutFields({
  choice,
  onChange,
}: {
  choice: RolloutChoice;
  onChange: (choice: RolloutChoice) => void;
}) {
  const set = (part: Partial<RolloutChoice>) => onChange({ ...choice, ...part });
  const { percent, days, failureRate, unsubscribeRate } = choice;
  const number = { type: 'number', min: 0, max: 100, step: 'any' } as const;
  return (
    <>
      <ShareSlider
        label="Share of new contacts"
        percent={percent}
        max={100}
        onChange={(next) => set({ percent: next })}
      />
      {percent === 100 ? (
        <p className="muted">All new contacts get the new version.</p>
      ) : (
        <>
          <p className="muted">
            {percent}% of new contacts first; the others get the previous version. A limit that is broken takes the new
            version back.
          </p>
          <div className="grid items-end gap-3 sm:grid-cols-3">
            <TextField
              label="Days until all get it"
              {...number}
              min={1}
              max={90}
              step={1}
              value={days}
              onChange={(event) => set({ days: event.target.value })}
            />
            <TextField
              label="Stop above % failed"
              {...number}
              value={failureRate}
              onChange={(event) => set({ failureRate: event.target.value })}
            />
            <TextField
              label="Stop above % unsubscribed"
              {...number}
              value={unsubscribeRate}
              onChange={(event) => set({ unsubscribeRate: event.target.value })}
            />
          </div>
        </>
      )}
    </>
  );
}

/** The rollout of a workflow: both versions side by side, its share, and the two ways to end it. */
export function RolloutDialog({
  workflow: { id, name },
  editing,
  onClose,
}: {
  workflow: Pick<Workflow, 'id' | 'name'>;
  editing: Pick<Editing, 'adopt'>;
  onClose: () => void;
}) {
  const project = useProjectId();
  const params = { path: { id } };
  const report = useQuery({
    queryKey: ['workflows', project, id, 'rollout'],
    refetchInterval: 5_000,
    queryFn: () => answer(api.GET('/workflows/{id}/rollout', { params })),
  });
  const end = useMutation({
    mutationFn: (how: 'finish' | 'back') => answer(api.POST(`/workflows/{id}/rollout/${how}`, { params })),
    onSuccess: (workflow, how) => {
      editing.adopt(workflow);
      toast(
        how === 'finish' ? `${name}: all new contacts get the new version` : `${name}: the new version was rolled back`,
      );
      onClose();
    },
  });
  const isRunning = report.data?.state === 'RUNNING';
  return (
    <Dialog wide title={`Rollout of ${name}`} onClose={onClose}>
      <Shown query={report}>
        {(rollout) => (
          <div className="stack">
            <State rollout={rollout} />
            <Versions versions={rollout.versions} />
            {isRunning ? <Share id={id} rollout={rollout} onChanged={() => void report.refetch()} /> : null}
          </div>
        )}
      </Shown>
      {end.error ? <Problem error={end.error} /> : null}
      <footer>
        <Button onClick={onClose}>Close</Button>
        {isRunning ? (
          <>
            <Button
              variant="danger"
              busy={end.isPending && end.variables === 'back'}
              disabled={end.isPending}
              onClick={() => end.mutate('back')}
            >
              Roll back
            </Button>
            <Button
              variant="primary"
              busy={end.isPending && end.variables === 'finish'}
              disabled={end.isPending}
              onClick={() => end.mutate('finish')}
            >
              Roll out to all
            </Button>
          </>
        ) : null}
      </footer>
    </Dialog>
  );
}

function State({ rollout }: { rollout: Rollout }) {
  const { state, version, previousVersion, percent, startedAt, endsAt, endedAt, stopped } = rollout;
  const { failureRate, unsubscribeRate } = rollout.stopIf;
  const limits = [
    ...(failureRate === null ? [] : [`${failureRate}% failed`]),
    ...(unsubscribeRate === null ? [] : [`${unsubscribeRate}% unsubscribed`]),
  ];
  if (state === 'RUNNING')
    return (
      <p>
        Since <Timestamp at={startedAt} />, {percent}% of new contacts get version {version}, the others version{' '}
        {previousVersion}. On <Timestamp at={endsAt} after /> all get version {version}.{' '}
        {limits.length > 0
          ? `It is rolled back above ${limits.join(' or ')}, once ${rollout.leastEntered} contacts have entered.`
          : 'It has no limits.'}
      </p>
    );
  if (stopped)
    return (
      <Note tone="bad">
        Version {version} was rolled back <Timestamp at={endedAt} />: {count(stopped.count)} of{' '}
        {counted(stopped.of, 'contact')} {stopped.limit === 'failureRate' ? 'failed' : 'unsubscribed'}, more than{' '}
        {stopped.percent}%.
      </Note>
    );
  const ends = {
    FINISHED: 'is for all new contacts since',
    BACK: 'was rolled back',
    STOPPED: 'was rolled back',
    REPLACED: 'was replaced by another graph',
  };
  return (
    <p>
      Version {version} {ends[state]} <Timestamp at={endedAt} />.
    </p>
  );
}

function Versions({ versions }: { versions: Report['versions'] }) {
  const column = (title: string, of: (row: Report['versions'][number]) => [number, number | null]) => ({
    key: title,
    title,
    number: true,
    cell: (row: Report['versions'][number]) => {
      const [many, share] = of(row);
      return share === null ? count(many) : `${count(many)} (${share}%)`;
    },
  });
  return (
    <Table
      label="Versions"
      rows={versions}
      rowKey={({ version }) => String(version)}
      columns={[
        {
          key: 'version',
          title: 'Version',
          cell: ({ version, isNew }) => `${version}, ${isNew ? 'new' : 'previous'}`,
        },
        column('Entered', ({ entered }) => [entered, null]),
        column('Active', ({ active }) => [active, null]),
        column('Completed', ({ completed, completedRate }) => [completed, completedRate]),
        column('Exited', ({ exited, exitedRate }) => [exited, exitedRate]),
        column('Failed', ({ failed, failureRate }) => [failed, failureRate]),
        {
          key: 'goal',
          title: 'Reached the goal',
          number: true,
          cell: ({ goal }) =>
            goal === null
              ? 'No goal'
              : `${count(goal.met)} of ${count(goal.entered)}${rateText(goal.rate, goal.interval)}`,
        },
        column('Opt-outs', ({ unsubscribed, unsubscribeRate }) => [unsubscribed, unsubscribeRate]),
      ]}
    />
  );
}

function Share({ id, rollout, onChanged }: { id: string; rollout: Rollout; onChanged: () => void }) {
  const [percent, setPercent] = useState(Math.max(1, Math.round(rollout.percent)));
  const change = useMutation({
    mutationFn: () => answer(api.PATCH('/workflows/{id}/rollout', { params: { path: { id } }, body: { percent } })),
    onSuccess: onChanged,
  });
  return (
    <div className="stack">
      <ShareSlider label="Share of new contacts" percent={percent} max={99} onChange={setPercent} />
      {change.error ? <Problem error={change.error} /> : null}
      <div>
        <Button
          size="small"
          busy={change.isPending}
          disabled={percent === rollout.percent}
          onClick={() => change.mutate()}
        >
          Change share
        </Button>
      </div>
    </div>
  );
}
