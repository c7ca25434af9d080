import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { CheckField, SelectField, TextField } from '../../ui/Field.tsx';
import { Problem } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { type Rule, ruleKinds } from './rule.ts';

/** Writes a rule, a new one or all of one that there is. */
export function RuleDialog({ rule, onClose }: { rule: Rule | null; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const form = useId();
  const [draft, setDraft] = useState({
    name: rule?.name ?? '',
    kind: rule?.kind ?? ('ADDRESS' as const),
    pattern: rule?.pattern ?? '',
    enabled: rule?.enabled ?? true,
  });
  const save = useMutation({
    mutationFn: async () => {
      if (rule === null) await answer(api.POST('/suppressions', { body: draft }));
      else await answer(api.PUT('/suppressions/{id}', { params: { path: { id: rule.id } }, body: draft }));
    },
    onSuccess: async () => {
      toast('Rule saved');
      await queries.invalidateQueries({ queryKey: ['suppressions', project] });
      onClose();
    },
  });
  const refused = save.error instanceof ApiError ? save.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Dialog title={rule ? `Edit ${rule.name}` : 'New rule'} onClose={onClose}>
      <form id={form} className="stack" onSubmit={submit}>
        <TextField
          label="Name"
          required
          maxLength={100}
          value={draft.name}
          problem={refused?.problemOf('name')}
          onChange={(event) => setDraft({ ...draft, name: event.target.value })}
        />
        <SelectField
          label="Suppresses"
          value={draft.kind}
          onChange={(event) => setDraft({ ...draft, kind: event.target.value as Rule['kind'] })}
        >
          {Object.entries(ruleKinds).map(([value, { name }]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Pattern"
          hint={ruleKinds[draft.kind].hint}
          required
          maxLength={254}
          value={draft.pattern}
          problem={refused?.problemOf('pattern')}
          onChange={(event) => setDraft({ ...draft, pattern: event.target.value })}
        />
        <CheckField
          label="Rule enabled"
          checked={draft.enabled}
          onChange={(event) => setDraft({ ...draft, enabled: event.target.checked })}
        />
        {save.error ? <Problem error={save.error} /> : null}
      </form>
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" form={form} variant="primary" busy={save.isPending}>
          Save
        </Button>
      </footer>
    </Dialog>
  );
}
