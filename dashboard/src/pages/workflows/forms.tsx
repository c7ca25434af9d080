import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/Field.tsx';
import { type DraftStep, parsedBody, shownBody } from './graph/draft.ts';
import { branchesOf, operatorNames } from './graph/graph.ts';
import type { StepType } from './graph/shapes.ts';
import { EventField } from './NewWorkflow.tsx';
import { TypedValueField } from './values.tsx';

interface Form {
  draft: DraftStep;
  /** What the service finds wrong with a field of the config. */
  problemOf: (field: string) => string | undefined;
  onChange: (change: Partial<DraftStep>) => void;
}

const text = (value: unknown) => (value === undefined || value === null ? '' : String(value));

/** The config of a step, by its type. */
export function ConfigForm({ type, ...form }: Form & { type: Exclude<StepType, 'TRIGGER'> }) {
  const Own = forms[type];
  return <Own {...form} />;
}

function set({ draft, onChange }: Form, change: Record<string, unknown>): void {
  const config = { ...draft.config, ...change };
  for (const [key, value] of Object.entries(config)) if (value === undefined) delete config[key];
  onChange({ config });
}

function SendEmail(form: Form) {
  const project = useProjectId();
  const { draft, problemOf, onChange } = form;
  const [search, setSearch] = useState('');
  const templates = useQuery({
    queryKey: ['templates', project, 'choice', search],
    queryFn: () => answer(api.GET('/templates', { params: { query: { search, pageSize: 100 } } })),
  });
  const chosen = useQuery({
    queryKey: ['templates', project, draft.templateId],
    enabled: draft.templateId !== null,
    queryFn: () => answer(api.GET('/templates/{id}', { params: { path: { id: draft.templateId ?? '' } } })),
  });
  const recipient = (draft.config.recipient ?? { type: 'CONTACT' }) as { type?: string; customEmail?: string };
  const isMany = (templates.data?.total ?? 0) > 100 || search !== '';
  const offered = templates.data?.data ?? [];
  return (
    <>
      {isMany ? (
        <TextField label="Search templates" value={search} onChange={(event) => setSearch(event.target.value)} />
      ) : null}
      <SelectField
        label="Template"
        value={draft.templateId ?? ''}
        problem={problemOf('templateId')}
        onChange={(event) => {
          const templateId = event.target.value || null;
          const { templateId: _, ...config } = draft.config;
          const name = offered.find(({ id }) => id === templateId)?.name;
          onChange({
            templateId,
            config: templateId ? { ...config, templateId } : config,
            template: templateId ? { id: templateId, name: name ?? '' } : null,
          });
        }}
      >
        <option value="">Select one</option>
        {chosen.data && offered.every(({ id }) => id !== chosen.data.id) ? (
          <option value={chosen.data.id}>{chosen.data.name}</option>
        ) : null}
        {offered.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {draft.templateId ? (
        <Link to="/app/$project/templates/$template" params={{ project, template: draft.templateId }}>
          Open template
        </Link>
      ) : null}
      <SelectField
        label="To"
        value={recipient.type ?? 'CONTACT'}
        onChange={(event) =>
          set(form, {
            recipient: event.target.value === 'CUSTOM' ? { type: 'CUSTOM', customEmail: '' } : { type: 'CONTACT' },
          })
        }
      >
        <option value="CONTACT">Contact</option>
        <option value="CUSTOM">Fixed address</option>
      </SelectField>
      {recipient.type === 'CUSTOM' ? (
        <TextField
          label="Address"
          type="email"
          value={text(recipient.customEmail)}
          problem={problemOf('recipient.customEmail')}
          onChange={(event) => set(form, { recipient: { type: 'CUSTOM', customEmail: event.target.value } })}
        />
      ) : null}
    </>
  );
}

function Delay(form: Form) {
  const { config } = form.draft;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto] items-end gap-2">
      <TextField
        label="Duration"
        type="number"
        min="0"
        step="any"
        value={text(config.amount)}
        problem={form.problemOf('amount')}
        onChange={(event) => set(form, { amount: event.target.value === '' ? undefined : Number(event.target.value) })}
      />
      <SelectField
        label="Unit"
        value={text(config.unit) || 'days'}
        problem={form.problemOf('unit')}
        onChange={(event) => set(form, { unit: event.target.value })}
      >
        <option value="minutes">minutes</option>
        <option value="hours">hours</option>
        <option value="days">days</option>
      </SelectField>
    </div>
  );
}

const unitSeconds = { minutes: 60, hours: 3_600, days: 86_400 } as const;
type Unit = keyof typeof unitSeconds;

function WaitForEvent(form: Form) {
  const { config } = form.draft;
  const seconds = typeof config.timeout === 'number' ? config.timeout : null;
  const fitting = (Object.keys(unitSeconds) as Unit[]).findLast((unit) => (seconds ?? 1) % unitSeconds[unit] === 0);
  const [unit, setUnit] = useState<Unit>(fitting ?? 'minutes');
  return (
    <>
      <EventField
        label="Event"
        hint="Only events after the wait starts count."
        value={text(config.eventName)}
        problem={form.problemOf('eventName')}
        onChange={(eventName) => set(form, { eventName })}
      />
      <CheckField
        label="Set a timeout"
        hint="When it passes, the “timeout” path is taken."
        checked={seconds !== null}
        onChange={(event) => set(form, { timeout: event.target.checked ? unitSeconds[unit] : undefined })}
      />
      {seconds !== null ? (
        <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto] items-end gap-2">
          <TextField
            label="Timeout"
            type="number"
            min="0"
            step="any"
            value={String(seconds / unitSeconds[unit])}
            problem={form.problemOf('timeout')}
            onChange={(event) => set(form, { timeout: Number(event.target.value) * unitSeconds[unit] })}
          />
          <SelectField
            label="Unit"
            value={unit}
            onChange={(event) => {
              const next = event.target.value as Unit;
              set(form, { timeout: (seconds / unitSeconds[unit]) * unitSeconds[next] });
              setUnit(next);
            }}
          >
            <option value="minutes">minutes</option>
            <option value="hours">hours</option>
            <option value="days">days</option>
          </SelectField>
        </div>
      ) : null}
    </>
  );
}

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

function Condition(form: Form) {
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

/** Names with values: headers, fields. A name that is emptied takes its row away when it is left. */
function Rows({
  rows,
  of,
  onChange,
  value: Value,
}: {
  rows: [string, unknown][];
  of: string;
  onChange: (rows: [string, unknown][]) => void;
  value: (props: { label: string; value: unknown; onChange: (value: unknown) => void }) => React.ReactNode;
}) {
  return (
    <>
      {rows.map(([name, value], n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names are being typed, only the place stays
        <fieldset className="field" key={n}>
          <legend className="sr-only">
            {of} {n + 1}
          </legend>
          <TextField
            label={`${of} ${n + 1}`}
            value={name}
            onChange={(event) => onChange(rows.map((row, at) => (at === n ? [event.target.value, value] : row)))}
          />
          <Value
            label={`Value of ${of.toLowerCase()} ${n + 1}`}
            value={value}
            onChange={(next) => onChange(rows.map((row, at) => (at === n ? [name, next] : row)))}
          />
          <Button size="small" onClick={() => onChange(rows.filter((_, at) => at !== n))}>
            Remove {of.toLowerCase()} {n + 1}
          </Button>
        </fieldset>
      ))}
      <Button size="small" onClick={() => onChange([...rows, [freeName(rows, of), '']])}>
        Add {of.toLowerCase()}
      </Button>
    </>
  );
}

function freeName(rows: [string, unknown][], of: string): string {
  const names = new Set(rows.map(([name]) => name));
  let n = rows.length + 1;
  while (names.has(`${of.toLowerCase()}${n}`)) n += 1;
  return `${of.toLowerCase()}${n}`;
}

const LineValue = ({
  label,
  value,
  onChange,
}: {
  label: string;
  value: unknown;
  onChange: (value: unknown) => void;
}) => <TextField label={label} value={text(value)} onChange={(event) => onChange(event.target.value)} />;

const FieldValue = (props: { label: string; value: unknown; onChange: (value: unknown) => void }) => (
  <TypedValueField {...props} nothing="Remove the field" />
);

function Webhook(form: Form) {
  const { config } = form.draft;
  const bodyText = shownBody(form.draft);
  const write = (typed: string) => {
    const body = parsedBody(typed);
    const { body: _, ...rest } = config;
    const parsed = body === undefined ? {} : { config: body === null ? rest : { ...rest, body } };
    form.onChange({ bodyText: typed, ...parsed });
  };
  const headers = Object.entries((config.headers ?? {}) as Record<string, unknown>);
  return (
    <>
      <TextField
        label="Address"
        type="text"
        inputMode="url"
        hint="Path and query can contain Liquid, such as {{data.region}}."
        value={text(config.url)}
        problem={form.problemOf('url')}
        onChange={(event) => set(form, { url: event.target.value })}
      />
      <SelectField
        label="Method"
        value={text(config.method) || 'POST'}
        problem={form.problemOf('method')}
        onChange={(event) => set(form, { method: event.target.value })}
      >
        {['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => (
          <option key={method}>{method}</option>
        ))}
      </SelectField>
      <Rows
        rows={headers}
        of="Header"
        value={LineValue}
        onChange={(rows) => set(form, { headers: rows.length > 0 ? Object.fromEntries(rows) : undefined })}
      />
      <TextArea
        label="Body (JSON)"
        hint="Leave empty to send the contact, workflow, execution and event."
        spellCheck={false}
        dir="ltr"
        value={bodyText}
        problem={form.problemOf('body') ?? (parsedBody(bodyText) === undefined ? 'Enter valid JSON.' : undefined)}
        onChange={(event) => write(event.target.value)}
      />
      <CheckField
        label="Fail the execution if the request fails"
        checked={config.failOnError === true}
        onChange={(event) => set(form, { failOnError: event.target.checked ? true : undefined })}
      />
      <TextField
        label="Retries"
        type="number"
        min="0"
        max="5"
        value={text(config.retries ?? 0)}
        problem={form.problemOf('retries')}
        onChange={(event) => set(form, { retries: Number(event.target.value) || undefined })}
      />
    </>
  );
}

function UpdateContact(form: Form) {
  const { data, updates = data, ...config } = form.draft.config;
  const rows = Object.entries((updates ?? {}) as Record<string, unknown>);
  return (
    <>
      <Rows
        rows={rows}
        of="Field"
        value={FieldValue}
        onChange={(next) => form.onChange({ config: { ...config, updates: Object.fromEntries(next) } })}
      />
      <SelectField
        label="Subscription"
        value={text(config.subscriptionAction) || 'none'}
        problem={form.problemOf('subscriptionAction')}
        onChange={(event) => set(form, { subscriptionAction: event.target.value })}
      >
        <option value="none">Don’t change</option>
        <option value="subscribe">Subscribe</option>
        <option value="unsubscribe">Unsubscribe</option>
      </SelectField>
    </>
  );
}

function Exit(form: Form) {
  return (
    <TextField
      label="Reason"
      hint="Shown on executions that end here."
      maxLength={200}
      value={text(form.draft.config.reason)}
      problem={form.problemOf('reason')}
      onChange={(event) => set(form, { reason: event.target.value || undefined })}
    />
  );
}

const forms = {
  SEND_EMAIL: SendEmail,
  DELAY: Delay,
  WAIT_FOR_EVENT: WaitForEvent,
  CONDITION: Condition,
  WEBHOOK: Webhook,
  UPDATE_CONTACT: UpdateContact,
  EXIT: Exit,
};
