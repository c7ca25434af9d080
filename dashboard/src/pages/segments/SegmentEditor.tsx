import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { useProjectId } from '../../app/address.ts';
import { ConflictDialog } from '../../app/ConflictDialog.tsx';
import { useDraft } from '../../app/draft.ts';
import { isEqual } from '../../app/equal.ts';
import { useUnsaved } from '../../app/unsaved.tsx';
import { ConditionEditor } from '../../conditions/ConditionEditor.tsx';
import { type Condition, inOrder, missingIn, type Tree } from '../../conditions/tree.ts';
import { useConditionSentence } from '../../conditions/vocabulary.tsx';
import { Button, buttonClass } from '../../ui/Button.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/Field.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { Note, Problem, Shown } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { type Segment, segmentTypeNames } from './segment.ts';

/** A new segment. */
export function NewSegment() {
  return <SegmentForm segment={null} />;
}

/** Changes of a segment that there is. */
export function SegmentEditor() {
  const project = useProjectId();
  const { segment: id = '' } = useParams({ strict: false });
  const segment = useQuery({
    queryKey: ['segments', project, id],
    queryFn: () => answer(api.GET('/segments/{id}', { params: { path: { id } } })),
  });
  return <Shown query={segment}>{(each) => <SegmentForm key={each.id} segment={each} />}</Shown>;
}

interface Draft {
  name: string;
  description: string;
  type: Segment['type'];
  trackMembership: boolean;
  condition: Tree | null;
}

// Conditions that the service has stored are valid.
function draftOf(segment: Segment | null): Draft {
  return {
    name: segment?.name ?? '',
    description: segment?.description ?? '',
    type: segment?.type ?? 'DYNAMIC',
    trackMembership: segment?.trackMembership ?? false,
    condition: segment?.condition ? inOrder(segment.condition as unknown as Tree) : null,
  };
}

function storedOf(segment: Segment | null) {
  return { content: draftOf(segment), revision: segment?.revision ?? null };
}

const names = {
  name: 'Name',
  description: 'Description',
  type: 'Type',
  trackMembership: 'Track membership',
  condition: 'Conditions',
};

/** The draft of a segment, or of a new one, with its saving. */
function useSegmentDraft(segment: Segment | null) {
  const project = useProjectId();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const path = { id: segment?.id ?? '' };
  const stored = draftOf(segment);
  return useDraft({
    stored: storedOf(segment),
    read: async () => storedOf(await answer(api.GET('/segments/{id}', { params: { path } }))),
    write: async ({ description, type, condition, ...rest }, header) => {
      const isNewCondition = type === 'DYNAMIC' && !isEqual(condition, stored.condition);
      const body = {
        ...rest,
        description: description || null,
        ...(isNewCondition ? { condition: condition as Condition | null } : {}),
      };
      const saved =
        segment === null
          ? await answer(api.POST('/segments', { body: { ...body, type } }))
          : await answer(api.PATCH('/segments/{id}', { params: { path, header }, body }));
      return { ...storedOf(saved), id: saved.id };
    },
    onSaved: async ({ id }) => {
      toast('Segment saved');
      await queries.invalidateQueries({ queryKey: ['segments', project] });
      await navigate({
        to: '/app/$project/segments/$segment',
        params: { project, segment: id },
        ignoreBlocker: true,
      });
    },
  });
}

/** Returns the missing part of the draft before it can be saved; null for none. */
function openPoint(draft: ReturnType<typeof draftOf>, stored: ReturnType<typeof draftOf>): string | null {
  if (draft.name.trim() === '') return 'Enter a name.';
  if (draft.type !== 'DYNAMIC') return null;
  if (draft.condition === null) return 'Add at least one filter.';
  return isEqual(draft.condition, stored.condition) ? null : missingIn(draft.condition);
}

function SegmentForm({ segment }: { segment: Segment | null }) {
  const project = useProjectId();
  const [missing, setMissing] = useState<string | null>(null);
  const { content: draft, hasChanges, change, ...saving } = useSegmentDraft(segment);
  const unsaved = useUnsaved(hasChanges && !saving.isSaving);
  const sentence = useConditionSentence(draft.condition);
  const submit = () => {
    const open = openPoint(draft, draftOf(segment));
    setMissing(open);
    if (open === null) saving.save();
  };
  return (
    <Page
      title={segment ? `Edit ${segment.name}` : 'New segment'}
      above={
        <Link to="/app/$project/segments" params={{ project }}>
          Segments
        </Link>
      }
      actions={
        <>
          <Link
            className={buttonClass()}
            {...(segment
              ? { to: '/app/$project/segments/$segment' as const, params: { project, segment: segment.id } }
              : { to: '/app/$project/segments' as const, params: { project } })}
          >
            Cancel
          </Link>
          <Button variant="primary" busy={saving.isSaving} disabled={segment !== null && !hasChanges} onClick={submit}>
            Save
          </Button>
        </>
      }
    >
      <div className="stack">
        {missing ? <Note tone="bad">{missing}</Note> : null}
        {saving.error ? <Problem error={saving.error} /> : null}
        <Card title="Details">
          <Details draft={draft} isNew={segment === null} error={saving.error} onChange={change} />
        </Card>
        {draft.type === 'DYNAMIC' ? (
          <Card title="Conditions">
            <ConditionEditor
              key={saving.generation}
              initial={draft.condition}
              exceptSegment={segment?.id}
              refused={saving.error}
              onChange={(condition) => change({ condition })}
            />
          </Card>
        ) : null}
      </div>
      {saving.conflict ? (
        <ConflictDialog
          what="segment"
          conflict={saving.conflict}
          names={names}
          describe={(value) =>
            typeof value === 'boolean' ? (value ? 'Yes' : 'No') : value ? sentence(value as Tree) : ''
          }
          onMine={saving.keepMine}
          onTheirs={saving.takeTheirs}
          onClose={saving.decideLater}
        />
      ) : null}
      {unsaved}
    </Page>
  );
}

function Details({
  draft,
  isNew,
  error,
  onChange,
}: {
  draft: ReturnType<typeof draftOf>;
  isNew: boolean;
  error: unknown;
  onChange: (part: Partial<ReturnType<typeof draftOf>>) => void;
}) {
  const refused = error instanceof ApiError ? error : null;
  return (
    <div className="stack">
      <TextField
        label="Name"
        required
        maxLength={100}
        value={draft.name}
        problem={refused?.problemOf('name')}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <TextArea
        label="Description"
        rows={2}
        maxLength={500}
        value={draft.description}
        problem={refused?.problemOf('description')}
        onChange={(event) => onChange({ description: event.target.value })}
      />
      {isNew ? (
        <SelectField
          label="Type"
          hint="Dynamic segments update by conditions. Static segments hold the contacts you add. This can’t be changed later."
          value={draft.type}
          onChange={(event) => onChange({ type: event.target.value as Segment['type'] })}
        >
          {Object.entries(segmentTypeNames).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </SelectField>
      ) : null}
      <CheckField
        label="Track entries and exits"
        hint="Each change becomes an event that workflows can start on or wait for."
        checked={draft.trackMembership}
        onChange={(event) => onChange({ trackMembership: event.target.checked })}
      />
    </div>
  );
}
