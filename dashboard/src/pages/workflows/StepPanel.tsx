import { type FormEvent, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { Note } from '../../ui/States.tsx';
import type { Editing } from './editing.ts';
import { ConfigForm, parsedBody, type StepDraft } from './forms.tsx';
import { sameJson, stepNames, wayKey, waysOut } from './graph.ts';
import type { Step, Workflow } from './workflow.ts';

/** What is being written of a step, and the step as it was when the writing began. */
export interface Writing {
  base: StepDraft;
  draft: StepDraft;
}

/** A step as the form has it. */
export function draftOf({ name, config, templateId }: Step): StepDraft {
  const { body } = config;
  return {
    name,
    config,
    templateId,
    bodyText: body === undefined || body === null ? '' : JSON.stringify(body, null, 2),
  };
}

const same = (one: StepDraft, other: StepDraft) =>
  sameJson(
    [one.name, one.config, one.templateId, one.bodyText],
    [other.name, other.config, other.templateId, other.bodyText],
  );

/** Whether there is something to save. */
export function hasChanges(writing: Writing | undefined): boolean {
  return writing !== undefined && !same(writing.base, writing.draft);
}

/** The form of a step: name, config and where its ways lead. Its text stays until it is saved or thrown away. */
export function StepPanel({
  workflow,
  step,
  writing,
  editing,
  onWrite,
  onDelete,
  onPeople,
}: {
  workflow: Workflow;
  step: Step;
  writing: Writing | undefined;
  editing: Editing;
  onWrite: (writing: Writing | undefined) => void;
  onDelete: () => void;
  onPeople: () => void;
}) {
  const now = draftOf(step);
  const { base, draft } = hasChanges(writing) && writing ? writing : { base: now, draft: now };
  const isChanged = !same(base, draft);
  const byOthers = isChanged && !same(base, now);
  const [isSaving, setSaving] = useState(false);
  const path = { id: workflow.id, stepId: step.id };
  const issues = workflow.issues.filter(({ stepId }) => stepId === step.id);
  const problemOf = (field: string) =>
    issues.find((issue) => issue.field === `config.${field}` || issue.field === field)?.message;
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (step.type === 'TRIGGER') return;
    const body = parsedBody(draft.bodyText);
    if (step.type === 'WEBHOOK' && body === undefined) return;
    const { body: _, ...rest } = draft.config;
    const config =
      step.type === 'WEBHOOK' && body !== null ? { ...rest, body } : step.type === 'WEBHOOK' ? rest : draft.config;
    const isContentNew = !sameJson([config, draft.templateId], [step.config, step.templateId]);
    setSaving(true);
    const saved = await editing.edit(() =>
      answer(
        api.PATCH('/workflows/{id}/steps/{stepId}', {
          params: { path },
          body: {
            ...(draft.name === step.name ? {} : { name: draft.name }),
            ...(isContentNew
              ? { config, ...(draft.templateId === step.templateId ? {} : { templateId: draft.templateId }) }
              : {}),
          },
        }),
      ),
    );
    setSaving(false);
    if (saved !== undefined) onWrite(undefined);
  };
  return (
    <div className="stack">
      <div>
        <h2 dir="auto">{step.name}</h2>
        <p className="muted">{stepNames[step.type]}</p>
      </div>
      {issues.length > 0 ? (
        <Note tone="warn">
          <ul>
            {issues.map(({ field, message }) => (
              <li key={`${field} ${message}`}>{message}</li>
            ))}
          </ul>
        </Note>
      ) : null}
      {byOthers ? (
        <Note tone="warn">
          <p>Somebody else has saved this step while you wrote. Your text is kept here.</p>
          <span className="row">
            <Button size="small" onClick={() => onWrite(undefined)}>
              Take theirs
            </Button>
            <Button size="small" onClick={() => onWrite({ base: now, draft })}>
              Go on with mine
            </Button>
          </span>
        </Note>
      ) : null}
      {step.type === 'TRIGGER' ? null : (
        <form className="stack" onSubmit={(event) => void save(event)}>
          <TextField
            label="Name"
            required
            maxLength={255}
            value={draft.name}
            onChange={(event) => onWrite({ base, draft: { ...draft, name: event.target.value } })}
          />
          <ConfigForm
            type={step.type}
            draft={draft}
            problemOf={problemOf}
            onChange={(change) => onWrite({ base, draft: { ...draft, ...change } })}
          />
          <div className="row">
            <Button type="submit" look="primary" busy={isSaving} disabled={!isChanged || byOthers}>
              Save the step
            </Button>
            {isChanged ? (
              <Button look="plain" onClick={() => onWrite(undefined)}>
                Throw changes away
              </Button>
            ) : null}
          </div>
        </form>
      )}
      <Ways workflow={workflow} step={step} editing={editing} />
      <div className="row">
        <Button size="small" onClick={onPeople}>
          Who is here
        </Button>
        {step.type === 'TRIGGER' ? null : (
          <Button size="small" look="danger" onClick={onDelete}>
            Delete the step …
          </Button>
        )}
      </div>
    </div>
  );
}

/** Where the ways of a step lead, as choices: what the canvas does by dragging. */
function Ways({ workflow, step, editing }: { workflow: Workflow; step: Step; editing: Editing }) {
  const { id, steps, transitions } = workflow;
  const own = transitions.filter(({ fromStepId }) => fromStepId === step.id);
  const connect = (key: string, toStepId: string) =>
    editing.edit(async () => {
      const before = own.find((way) => wayKey(way) === key);
      if (before)
        await answer(
          api.DELETE('/workflows/{id}/transitions/{transitionId}', {
            params: { path: { id, transitionId: before.id } },
          }),
        );
      const way = waysOut(step).find((each) => each.key === key);
      if (toStepId === '' || way === undefined) return;
      await answer(
        api.POST('/workflows/{id}/transitions', {
          params: { path: { id } },
          body: { fromStepId: step.id, toStepId, branch: way.branch, waitOutcome: way.waitOutcome },
        }),
      );
    });
  return (
    <>
      {waysOut(step).map(({ key, label }) => (
        <SelectField
          key={key}
          label={label ? `“${label}” leads to` : 'Leads to'}
          disabled={editing.isBusy}
          value={own.find((way) => wayKey(way) === key)?.toStepId ?? ''}
          onChange={(event) => void connect(key, event.target.value)}
        >
          <option value="">Nothing: the way ends</option>
          {steps
            .filter(({ id: other, type }) => other !== step.id && type !== 'TRIGGER')
            .map(({ id: other, name }) => (
              <option key={other} value={other}>
                {name}
              </option>
            ))}
        </SelectField>
      ))}
    </>
  );
}
