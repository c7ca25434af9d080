import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { ConditionEditor } from '../../../conditions/ConditionEditor.tsx';
import { filtersIn, formOf, type Tree } from '../../../conditions/tree.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/Field.tsx';
import { counted } from '../../../words/numbers.ts';
import type { Settings } from './settings.ts';

interface Part {
  shown: Settings;
  problemOf: (field: string) => string | undefined;
  onChange: (part: Partial<Settings>) => void;
}

/** When a schedule starts an automation, and for whom. */
export function ScheduleFields({ shown, problemOf, onChange }: Part) {
  const project = useProjectId();
  const segments = useQuery({
    queryKey: ['segments', project],
    queryFn: () => answer(api.GET('/segments')),
  });
  return (
    <>
      <TextField
        label="Schedule (cron)"
        hint="Minute, hour, day, month, weekday. “0 9 * * 1” is Mondays at 9:00 AM."
        required
        value={shown.schedule}
        problem={problemOf('triggerConfig.schedule')}
        onChange={(event) => onChange({ schedule: event.target.value })}
      />
      <TextField
        label="Time zone"
        hint="For example Europe/Berlin."
        required
        value={shown.timezone}
        problem={problemOf('triggerConfig.timezone')}
        onChange={(event) => onChange({ timezone: event.target.value })}
      />
      <SelectField
        label="Segment"
        hint="All contacts in it at that time, or those matching the conditions."
        value={shown.segmentId}
        problem={problemOf('triggerConfig.segmentId')}
        onChange={(event) => onChange({ segmentId: event.target.value })}
      >
        <option value="">No segment</option>
        {segments.data?.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <Condition shown={shown} problemOf={problemOf} onChange={onChange} />
    </>
  );
}

/** Which new contacts start an automation. */
export function CreatedFields({ shown, problemOf, onChange }: Part) {
  return (
    <>
      <Condition shown={shown} problemOf={problemOf} onChange={onChange} />
      <CheckField
        label="Include imported contacts"
        hint="Otherwise contacts created by an import do not enter."
        checked={shown.imports}
        onChange={(event) => onChange({ imports: event.target.checked })}
      />
    </>
  );
}

function Condition({ shown, problemOf, onChange }: Part) {
  const [isOpen, setOpen] = useState(false);
  const problem = problemOf('triggerConfig.audienceCondition');
  return (
    <div className="field">
      <span>Condition</span>
      <span className="text-sm text-muted">{conditionText(shown)}</span>
      <span className="row">
        <Button size="small" onClick={() => setOpen(true)}>
          {shown.audienceCondition ? 'Edit conditions' : 'Add conditions'}
        </Button>
        {shown.audienceCondition ? (
          <Button size="small" variant="plain" onClick={() => onChange({ audienceCondition: null })}>
            Remove conditions
          </Button>
        ) : null}
      </span>
      {problem ? (
        <span className="text-sm text-bad" role="alert">
          {problem}
        </span>
      ) : null}
      {isOpen ? (
        <ConditionDialog
          initial={shown.audienceCondition}
          isChecked={shown.triggerType === 'SCHEDULE' ? 'at each scheduled time' : 'when a new contact enters'}
          onTake={(audienceCondition) => onChange({ audienceCondition })}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </div>
  );
}

function conditionText({ triggerType, audienceCondition, segmentId }: Settings): string {
  if (audienceCondition === null && triggerType === 'CONTACT_CREATED') return 'None: all new contacts enter.';
  if (audienceCondition === null)
    return segmentId
      ? 'None: all contacts in the segment enter.'
      : 'None yet: a schedule needs a segment or conditions.';
  const filters = [...filtersIn(formOf(audienceCondition))].length;
  return `${counted(filters, 'filter')}.`;
}

/** Builds the condition of a trigger, beside the contacts that match it now. */
function ConditionDialog({
  initial,
  isChecked,
  onTake,
  onClose,
}: {
  initial: Tree | null;
  isChecked: string;
  onTake: (tree: Tree) => void;
  onClose: () => void;
}) {
  const [tree, setTree] = useState(initial);
  return (
    <Dialog
      title="Conditions"
      description={`Checked ${isChecked}. The preview shows contacts matching now.`}
      onClose={onClose}
    >
      <ConditionEditor initial={initial} onChange={setTree} />
      <footer>
        <Button onClick={onClose}>Close</Button>
        <Button
          variant="primary"
          disabled={tree === null || tree === initial}
          onClick={() => {
            if (tree) onTake(tree);
            onClose();
          }}
        >
          Use conditions
        </Button>
      </footer>
    </Dialog>
  );
}
