import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../../api/client.ts';
import { useProjectId } from '../../../../app/address.ts';
import { ConditionEditor } from '../../../../conditions/ConditionEditor.tsx';
import { newForm } from '../../../../conditions/edits.ts';
import { inOrder, type Tree, treeOf } from '../../../../conditions/tree.ts';
import { Button } from '../../../../ui/Button.tsx';
import { SelectField, TextField } from '../../../../ui/Field.tsx';
import { type Branch, branchesOf, operatorNames } from '../../graph/graph.ts';
import { needsValue, TypedValueField } from '../values.tsx';
import { type Form, set, text } from './form.ts';

const treeTitle = 'Conditions, as in segments';

function OperatorField({
  label,
  value,
  problem,
  withTree = false,
  onChange,
}: {
  label: string;
  value: unknown;
  problem?: string | undefined;
  /** Offers `tree` besides, for a condition in place of a comparison. */
  withTree?: boolean;
  onChange: (operator: string) => void;
}) {
  return (
    <SelectField
      label={label}
      value={text(value) || 'equals'}
      problem={problem}
      onChange={(event) => onChange(event.target.value)}
    >
      {Object.entries(operatorNames).map(([operator, name]) => (
        <option key={operator} value={operator}>
          {name}
        </option>
      ))}
      {withTree ? <option value="tree">{treeTitle}</option> : null}
    </SelectField>
  );
}

export function ConditionForm(form: Form) {
  const { config } = form.draft;
  const isMulti = config.mode === 'multi';
  const isTree = config.mode === 'tree';
  const branches = branchesOf(config);
  return (
    <>
      <SelectField
        label="Type"
        value={isTree ? 'tree' : isMulti ? 'multi' : 'binary'}
        onChange={(event) => {
          const { field = '', operator = 'equals', value = '' } = config;
          form.onChange({
            config:
              event.target.value === 'tree'
                ? { mode: 'tree', condition: treeOf(newForm()) }
                : event.target.value === 'multi'
                  ? { mode: 'multi', field, branches: [{ id: 'branch-1', name: 'Branch 1', operator, value }] }
                  : { field, operator: branches[0]?.operator ?? operator, value: branches[0]?.value ?? value },
          });
        }}
      >
        <option value="binary">Yes or no</option>
        <option value="multi">Multiple branches</option>
        <option value="tree">{treeTitle}</option>
      </SelectField>
      {isTree ? (
        <TreeField
          tree={(config.condition ?? treeOf(newForm())) as Tree}
          onChange={(condition) => set(form, { condition })}
        />
      ) : (
        <FieldAndBranches {...form} />
      )}
    </>
  );
}

/** A condition tree of a step or an exit, which may ask for the event that starts the workflow. */
export function TreeField({ tree, onChange }: { tree: Tree; onChange: (tree: Tree) => void }) {
  const written = JSON.stringify(inOrder(tree));
  const [shown, setShown] = useState({ written, key: 0 });
  // An undo, or the version of somebody else, begins another form; an edit of this one does not.
  if (written !== shown.written) setShown({ written, key: shown.key + 1 });
  return (
    <ConditionEditor
      key={shown.key}
      hasTrigger
      initial={tree}
      onChange={(next) => {
        setShown({ written: JSON.stringify(inOrder(next)), key: shown.key });
        onChange(next);
      }}
    />
  );
}

function FieldAndBranches(form: Form) {
  const project = useProjectId();
  const { config } = form.draft;
  const fields = useQuery({
    queryKey: ['workflows', project, 'fields'],
    queryFn: () => answer(api.GET('/workflows/fields')),
  });
  return (
    <>
      <TextField
        label="Field"
        hint="For example data.plan, contact.email or event.total."
        list="condition-fields"
        value={text(config.field)}
        problem={form.problemOf('field')}
        onChange={(event) => set(form, { field: event.target.value })}
      />
      <datalist id="condition-fields">
        {fields.data?.fields.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
      {config.mode === 'multi' ? <Branches {...form} /> : <YesOrNo {...form} />}
    </>
  );
}

function YesOrNo(form: Form) {
  const { config } = form.draft;
  return (
    <>
      <OperatorField
        label="Operator"
        value={config.operator}
        problem={form.problemOf('operator')}
        onChange={(operator) => set(form, { operator })}
      />
      {needsValue(config.operator) ? (
        <TypedValueField label="Value" value={config.value} onChange={(value) => set(form, { value })} />
      ) : null}
    </>
  );
}

function Branches(form: Form) {
  const branches = branchesOf(form.draft.config);
  const put = (n: number, next: Branch) =>
    set(form, { branches: branches.map((branch, at) => (at === n ? next : branch)) });
  return (
    <>
      {branches.map((branch, n) => {
        const { operator: _, value: __, condition, ...named } = branch;
        const isTree = branch.operator === undefined && condition !== undefined;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: ids and names are being typed, only the place stays
          <fieldset className="field" key={n}>
            <legend>Branch {n + 1}</legend>
            <TextField
              label={`Name of branch ${n + 1}`}
              value={text(branch.name)}
              onChange={(event) => put(n, { ...branch, name: event.target.value })}
            />
            <OperatorField
              label={`Operator of branch ${n + 1}`}
              withTree
              value={isTree ? 'tree' : branch.operator}
              problem={form.problemOf(`branches.${n}.operator`)}
              onChange={(operator) =>
                put(
                  n,
                  operator === 'tree'
                    ? { ...named, condition: treeOf(newForm()) }
                    : { ...named, operator, value: branch.value ?? '' },
                )
              }
            />
            {isTree ? (
              <TreeField tree={condition as Tree} onChange={(tree) => put(n, { ...named, condition: tree })} />
            ) : needsValue(branch.operator) ? (
              <TypedValueField
                label={`Value of branch ${n + 1}`}
                value={branch.value}
                onChange={(value) => put(n, { ...branch, value })}
              />
            ) : null}
            <Button
              size="small"
              disabled={branches.length === 1}
              onClick={() => set(form, { branches: branches.filter((_, at) => at !== n) })}
            >
              Remove branch {n + 1}
            </Button>
          </fieldset>
        );
      })}
      <Button
        size="small"
        disabled={branches.length >= 20}
        onClick={() => {
          const n = Math.max(0, ...branches.map(({ id }) => Number(/^branch-(\d+)$/.exec(id)?.[1] ?? 0))) + 1;
          const branch = { id: `branch-${n}`, name: `Branch ${n}`, operator: 'equals', value: '' };
          set(form, { branches: [...branches, branch] });
        }}
      >
        Add branch
      </Button>
      <p className="muted">The first matching branch is taken, or “otherwise” if none matches.</p>
    </>
  );
}
