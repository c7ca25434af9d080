import { useEffect, useState } from 'react';
import { ApiError } from '../../../api/errors.ts';
import { ConditionBuilder } from '../../../conditions/ConditionBuilder.tsx';
import { newForm } from '../../../conditions/edits.ts';
import { type ConditionForm, formOf, inOrder, missingIn, type Tree, treeOf } from '../../../conditions/tree.ts';
import { Button } from '../../../ui/Button.tsx';
import { Card } from '../../../ui/Page.tsx';

/** A condition on any field, which the list follows as soon as it is complete. */
export function FieldFilter({
  condition,
  refused,
  onChange,
  onClose,
}: {
  condition: Tree | null;
  /** The problem that the service found with the list. */
  refused: unknown;
  onChange: (condition: Tree | null) => void;
  onClose: () => void;
}) {
  const [form, setForm] = useState<ConditionForm>(() => (condition ? formOf(condition) : newForm()));
  const shown = condition ? JSON.stringify(inOrder(condition)) : null;
  // Another view, or the back button, brings another condition; one's own is there already.
  useEffect(() => {
    setForm((held) =>
      shown !== null && JSON.stringify(treeOf(held)) !== shown ? formOf(JSON.parse(shown) as Tree) : held,
    );
  }, [shown]);
  const tree = treeOf(form);
  const text = JSON.stringify(tree);
  const isReady = missingIn(tree) === null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows what is typed, and `onChange` is another function each time
  useEffect(() => {
    if (!isReady || text === shown) return undefined;
    const timer = setTimeout(() => onChange(JSON.parse(text) as Tree), 400);
    return () => clearTimeout(timer);
  }, [text, isReady]);
  const path = refused instanceof ApiError ? refused.details.path : null;
  return (
    <Card title="Filter by any field">
      <div className="stack">
        <ConditionBuilder
          form={form}
          problem={refused instanceof ApiError && typeof path === 'string' ? { path, message: refused.message } : null}
          onChange={setForm}
        />
        <div className="row">
          <Button
            size="small"
            onClick={() => {
              onChange(null);
              onClose();
            }}
          >
            Remove field filter
          </Button>
          {isReady ? null : <span className="text-sm text-muted">Complete the filter to apply it.</span>}
        </div>
      </div>
    </Card>
  );
}
