import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../../../api/client.ts';
import { useProjectId } from '../../../../app/address.ts';
import { Button } from '../../../../ui/Button.tsx';
import { SelectField, TextField } from '../../../../ui/Field.tsx';
import { branchesOf, operatorNames } from '../../graph/graph.ts';
import { TypedValueField } from '../values.tsx';
import { type Form, set, text } from './form.ts';

function OperatorField({
  label,
  value,
  problem,
  onChange,
}: {
  label: string;
  value: unknown;
  problem?: string | undefined;
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
    </SelectField>
  );
}

const needsValue = (operator: unknown) => operator !== 'exists' && operator !== 'notExists';

export function ConditionForm(form: Form) {
  const project = useProjectId();
  const { config } = form.draft;
  const isMulti = config.mode === 'multi';
  const fields = useQuery({
    queryKey: ['workflows', project, 'fields'],
    queryFn: () => answer(api.GET('/workflows/fields')),
  });
  const branches = branchesOf(config);
  return (
    <>
      <SelectField
        label="Type"
        value={isMulti ? 'multi' : 'binary'}
        onChange={(event) => {
          const { field, operator = 'equals', value = '' } = config;
          form.onChange({
            config:
              event.target.value === 'multi'
                ? { mode: 'multi', field, branches: [{ id: 'branch-1', name: 'Branch 1', operator, value }] }
                : { field, operator: branches[0]?.operator ?? operator, value: branches[0]?.value ?? value },
          });
        }}
      >
        <option value="binary">Yes or no</option>
        <option value="multi">Multiple branches</option>
      </SelectField>
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
      {isMulti ? <Branches {...form} /> : <YesOrNo {...form} />}
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
  const change = (n: number, part: Record<string, unknown>) =>
    set(form, { branches: branches.map((branch, at) => (at === n ? { ...branch, ...part } : branch)) });
  return (
    <>
      {branches.map((branch, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: ids and names are being typed, only the place stays
        <fieldset className="field" key={n}>
          <legend>Branch {n + 1}</legend>
          <TextField
            label={`Name of branch ${n + 1}`}
            value={text(branch.name)}
            onChange={(event) => change(n, { name: event.target.value })}
          />
          <OperatorField
            label={`Operator of branch ${n + 1}`}
            value={branch.operator}
            problem={form.problemOf(`branches.${n}.operator`)}
            onChange={(operator) => change(n, { operator })}
          />
          {needsValue(branch.operator) ? (
            <TypedValueField
              label={`Value of branch ${n + 1}`}
              value={branch.value}
              onChange={(value) => change(n, { value })}
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
      ))}
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
