import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/Field.tsx';
import { Figure } from '../../../ui/Figure.tsx';
import { Note, Problem, Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { count, counted } from '../../../words/numbers.ts';
import { previewOf, startImport } from './request.ts';
import type { ColumnChoice } from './rules/mapping.ts';

type Preview = components['schemas']['ImportPreview'];
const newSegment = 'new';

/** Previews the changes of an import and the segment its contacts join; nothing is written before it starts. */
export function PreviewStep({
  file,
  choices,
  onBack,
  onStarted,
}: {
  file: File;
  choices: readonly ColumnChoice[];
  onBack: () => void;
  /** Called with the job, and the number of rows that repeat an address of the file. */
  onStarted: (jobId: string, repeated: number) => void;
}) {
  const project = useProjectId();
  const [segment, setSegment] = useState('');
  const [name, setName] = useState('');
  const [subscribeNew, setSubscribeNew] = useState(true);
  const [consentSource, setConsentSource] = useState('');
  const preview = useQuery({
    queryKey: ['contacts', project, 'import', file.name, file.size, file.lastModified, choices, subscribeNew],
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => previewOf({ file, choices, subscribeNew }, signal),
  });
  const start = useMutation({
    mutationFn: () =>
      startImport({
        file,
        choices,
        subscribeNew,
        ...(subscribes && consentSource.trim() ? { consentSource: consentSource.trim() } : {}),
        ...(segment === newSegment ? { segmentName: name.trim() } : segment ? { segmentId: segment } : {}),
      }),
    onSuccess: (jobId) => onStarted(jobId, preview.data?.repeatedCount ?? 0),
  });
  const subscribes = preview.data ? preview.data.newSubscribedCount + preview.data.resubscribedCount > 0 : false;
  const valid = preview.data ? preview.data.totalRows - preview.data.failureCount : 0;
  return (
    <>
      <div className="stack">
        <Shown query={preview}>{(found) => <Changes found={found} />}</Shown>
        {preview.data && preview.data.createdCount > 0 ? (
          <CheckField
            label="Subscribe new contacts"
            hint="The subscription column of the file, if it has one, comes first."
            checked={subscribeNew}
            onChange={({ target }) => setSubscribeNew(target.checked)}
          />
        ) : null}
        {subscribes ? (
          <TextField
            label="Source of consent"
            hint="Such as “Sign-up form on our website”. Saved as the field consentSource of the contacts that are subscribed."
            maxLength={200}
            value={consentSource}
            onChange={({ target }) => setConsentSource(target.value)}
          />
        ) : null}
        {valid > 0 ? <SegmentChoice {...{ segment, name }} onSegment={setSegment} onName={setName} /> : null}
        {start.error ? <Problem error={start.error} /> : null}
      </div>
      <footer>
        <Button onClick={onBack}>Back</Button>
        <Button
          variant="primary"
          busy={start.isPending}
          disabled={valid === 0 || preview.isPlaceholderData || (segment === newSegment && name.trim() === '')}
          onClick={() => start.mutate()}
        >
          {preview.data ? `Import ${counted(valid, 'row')}` : 'Import'}
        </Button>
      </footer>
    </>
  );
}

function Changes({ found }: { found: Preview }) {
  const subscribed = [
    ...(found.newSubscribedCount > 0 ? [counted(found.newSubscribedCount, 'new contact')] : []),
    ...(found.resubscribedCount > 0 ? [counted(found.resubscribedCount, 'unsubscribed contact')] : []),
  ].join(' and ');
  return (
    <>
      <dl className="figures">
        <Figure name="New" value={count(found.createdCount)} />
        <Figure name="Updated" value={count(found.updatedCount - found.repeatedUpdatedCount)} />
        <Figure
          name="Unchanged"
          value={count(found.unchangedCount - (found.repeatedCount - found.repeatedUpdatedCount))}
        />
        <Figure name="Invalid" value={count(found.failureCount)} />
      </dl>
      {found.repeatedCount > 0 ? (
        <p>{counted(found.repeatedCount, 'row repeats', 'rows repeat')} an address of the file.</p>
      ) : null}
      {subscribed ? (
        <Note tone="warn">This subscribes {subscribed}. Only subscribe contacts who gave their consent.</Note>
      ) : null}
      {found.unsubscribedCount > 0 ? (
        <Note>This unsubscribes {counted(found.unsubscribedCount, 'contact')}.</Note>
      ) : null}
      {found.failureCount > 0 ? <Invalid found={found} /> : null}
      {found.updates.length > 0 ? (
        <Table
          label="Contacts that change"
          rows={found.updates}
          rowKey={({ row }) => String(row)}
          columns={[
            { key: 'email', title: 'Updated contact', cell: ({ email }) => email },
            { key: 'changes', title: 'Changes', cell: (update) => <Differences update={update} /> },
          ]}
        />
      ) : null}
      {found.updatedCount > found.updates.length ? (
        <p className="text-sm text-muted">
          The first {count(found.updates.length)} of {count(found.updatedCount)} updates are shown.
        </p>
      ) : null}
    </>
  );
}

function Invalid({ found: { reasons, errors } }: { found: Preview }) {
  return (
    <Note tone="warn">
      <p>Invalid rows are skipped:</p>
      <ul>
        {Object.entries(reasons).map(([reason, times]) => (
          <li key={reason}>
            {count(times)} × {reason} (row{' '}
            {errors
              .filter(({ error }) => error === reason)
              .slice(0, 5)
              .map(({ row }) => count(row))
              .join(', ')}
            {times > 5 ? ', …' : ''})
          </li>
        ))}
      </ul>
    </Note>
  );
}

function Differences({ update: { before, after, subscribed } }: { update: Preview['updates'][number] }) {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  return (
    <ul>
      {subscribed === null ? null : <li>{subscribed ? 'Subscribed' : 'Unsubscribed'}</li>}
      {Object.entries(after).map(([key, value]) => (
        <li key={key} dir="auto">
          {key}: {key in before ? <del>{text(before[key])}</del> : null} {text(value)}
        </li>
      ))}
    </ul>
  );
}

function SegmentChoice({
  segment,
  name,
  onSegment,
  onName,
}: {
  segment: string;
  name: string;
  onSegment: (segment: string) => void;
  onName: (name: string) => void;
}) {
  const project = useProjectId();
  const segments = useQuery({ queryKey: ['segments', project], queryFn: () => answer(api.GET('/segments')) });
  return (
    <div className="flex flex-wrap gap-3">
      <SelectField label="Add to segment" value={segment} onChange={({ target }) => onSegment(target.value)}>
        <option value="">No segment</option>
        <option value={newSegment}>New segment</option>
        {(segments.data ?? [])
          .filter(({ type }) => type === 'STATIC')
          .map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
      </SelectField>
      {segment === newSegment ? (
        <TextField
          label="Name of the new segment"
          required
          maxLength={100}
          value={name}
          onChange={({ target }) => onName(target.value)}
        />
      ) : null}
    </div>
  );
}
