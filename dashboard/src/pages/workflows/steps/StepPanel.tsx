import { longestNote, longestStepName } from '@fernpost/workflow-graph';
import { Button } from '../../../ui/Button.tsx';
import { SelectField, TextArea, TextField } from '../../../ui/Field.tsx';
import { Note } from '../../../ui/States.tsx';
import { stepText } from '../../../words/events.ts';
import { stepSentence } from '../../../words/sentences.ts';
import type { Editing } from '../designer/editing.ts';
import { connectProblem, type DraftStep, type Graph, withStep, withWay } from '../graph/draft.ts';
import { stepNames, summary, wayKey, waysOut } from '../graph/graph.ts';
import type { Conflict } from '../graph/merge.ts';
import type { Issue } from '../workflow.ts';
import { ConfigForm } from './forms/ConfigForm.tsx';

/** The form of a step: name, config and where its ways lead. What is typed is part of the edit at once. */
export function StepPanel({
  step,
  editing,
  issues,
  onDelete,
  onPeople,
}: {
  step: DraftStep;
  editing: Editing;
  /** Those of this step. */
  issues: readonly Issue[];
  onDelete: () => void;
  onPeople: () => void;
}) {
  const conflict = editing.conflicts.find(({ stepId }) => stepId === step.id);
  const problemOf = (field: string) => {
    const problem = issues.find((issue) => issue.field === `config.${field}` || issue.field === field);
    return problem && stepSentence(problem);
  };
  const change = (part: Partial<DraftStep>) =>
    editing.edit((graph) => withStep(graph, step.id, part), `step ${step.id}`);
  return (
    <div className="stack">
      <div>
        <h2 dir="auto">{stepText(step.name)}</h2>
        <p className="muted">{stepNames[step.type]}</p>
      </div>
      {issues.length > 0 ? (
        <Note tone="warn">
          <ul>
            {issues.map(({ field, message }) => (
              <li key={`${field} ${message}`}>{stepSentence({ field, message })}</li>
            ))}
          </ul>
        </Note>
      ) : null}
      {conflict ? <Decision conflict={conflict} editing={editing} /> : null}
      {step.type === 'TRIGGER' ? null : (
        <div className="stack">
          <TextField
            label="Name"
            required
            maxLength={longestStepName}
            value={step.name}
            problem={step.name === '' ? 'Every step needs a name.' : problemOf('name')}
            onChange={(event) => change({ name: event.target.value })}
          />
          <ConfigForm type={step.type} draft={step} problemOf={problemOf} onChange={change} />
        </div>
      )}
      <Ways graph={editing.graph} step={step} editing={editing} />
      <TextArea
        label="Note"
        hint="For your team; contacts never see it."
        rows={2}
        maxLength={longestNote}
        value={step.note ?? ''}
        onChange={(event) => change({ note: event.target.value || null })}
      />
      <div className="row">
        <Button size="small" onClick={onPeople}>
          View contacts here
        </Button>
        {step.type === 'TRIGGER' ? null : (
          <Button size="small" variant="danger" onClick={onDelete}>
            Delete step
          </Button>
        )}
      </div>
    </div>
  );
}

/** A step that somebody else has changed too: says what theirs is, and lets one of the two be chosen. */
function Decision({ conflict, editing }: { conflict: Conflict; editing: Editing }) {
  const { theirs } = conflict;
  return (
    <Note tone="warn">
      <p>
        {theirs
          ? 'Someone else changed this step too. You see your version. Theirs is:'
          : 'Someone else deleted this step. You see your version.'}
      </p>
      {theirs ? (
        <p className="break">
          <strong dir="auto">{theirs.name}</strong>, <span dir="auto">{summary(theirs)}</span>
        </p>
      ) : null}
      <span className="row">
        <Button size="small" onClick={() => editing.decide(conflict, 'theirs')}>
          {theirs ? 'Use theirs' : 'Delete it'}
        </Button>
        <Button size="small" onClick={() => editing.decide(conflict, 'mine')}>
          Keep mine
        </Button>
      </span>
    </Note>
  );
}

/** Where the ways of a step lead, as choices: what the canvas does by dragging. */
function Ways({ graph, step, editing }: { graph: Graph; step: DraftStep; editing: Editing }) {
  const own = graph.transitions.filter(({ fromStepId }) => fromStepId === step.id);
  return (
    <>
      {waysOut(step).map(({ key, label }) => (
        <SelectField
          key={key}
          label={label ? `“${label}” leads to` : 'Leads to'}
          value={own.find((way) => wayKey(way) === key)?.toStepId ?? ''}
          onChange={(event) => editing.edit((before) => withWay(before, step.id, key, event.target.value))}
        >
          <option value="">Nothing (ends here)</option>
          {graph.steps
            .filter(({ id }) => connectProblem(graph, step.id, id) === null)
            .map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
        </SelectField>
      ))}
    </>
  );
}
