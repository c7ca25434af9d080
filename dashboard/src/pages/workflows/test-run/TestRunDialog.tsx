import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { SelectField, TextArea } from '../../../ui/Field.tsx';
import { Problem } from '../../../ui/States.tsx';
import type { ShownTest } from '../designer/shown.ts';
import { ContactChoice, jsonOf } from '../executions/ContactChoice.tsx';
import { bodyOf, type Graph } from '../graph/draft.ts';
import { type TestRun, TestRunResult, withTestRun } from './TestRunResult.tsx';

type Waits = 'EVENT' | 'TIMEOUT';

/** Shows step by step what would happen to a contact in the graph as it is edited. Nothing is sent, called or changed. */
export function TestRunDialog({
  workflow: id,
  graph,
  onShow,
  onClose,
}: {
  workflow: string;
  graph: Graph;
  /** Draws the path of the test on the canvas. */
  onShow: (test: ShownTest) => void;
  onClose: () => void;
}) {
  const [contactId, setContactId] = useState('');
  const [waits, setWaits] = useState<Waits>('EVENT');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const run = useMutation({
    mutationFn: (data: Record<string, unknown> | null): Promise<TestRun> =>
      answer(
        api.POST('/workflows/{id}/test-run', {
          params: { path: { id } },
          body: { contactId, waits, data, graph: bodyOf(graph) },
        }),
      ),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const data = objectOf(text);
    setProblem(data === undefined ? 'Enter a JSON object.' : undefined);
    if (data !== undefined) run.mutate(data);
  };
  const show = (result: TestRun) => {
    onShow({ graph, hide: 'Hide test', draw: (drawing) => withTestRun(drawing, result) });
    onClose();
  };
  const result = run.data;
  return (
    <Dialog
      wide
      title="Test with a contact"
      description="Shows what each step would do. Nothing is sent, called or changed, and your unsaved changes are included."
      onClose={onClose}
    >
      <form className="stack" onSubmit={submit}>
        <ContactChoice value={contactId} onChange={setContactId} />
        <SelectField label="Waits for events" value={waits} onChange={(event) => setWaits(event.target.value as Waits)}>
          <option value="EVENT">The event happens</option>
          <option value="TIMEOUT">The event doesn’t happen</option>
        </SelectField>
        <TextArea
          label="Event data (JSON, optional)"
          spellCheck={false}
          dir="ltr"
          value={text}
          problem={problem}
          onChange={(event) => setText(event.target.value)}
        />
        {run.error ? <Problem error={run.error} /> : null}
        {result ? <TestRunResult run={result} /> : null}
        <footer>
          <Button onClick={onClose}>Close</Button>
          {result ? <Button onClick={() => show(result)}>Show on canvas</Button> : null}
          <Button type="submit" variant="primary" busy={run.isPending} disabled={contactId === ''}>
            Run test
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** The object of a text, null for an empty one; undefined for anything else. */
function objectOf(text: string): Record<string, unknown> | null | undefined {
  try {
    const value = jsonOf(text);
    if (value === undefined) return null;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
