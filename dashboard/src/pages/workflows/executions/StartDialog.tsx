import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { TextArea } from '../../../ui/Field.tsx';
import { Problem } from '../../../ui/States.tsx';
import { refreshWorkflows } from '../workflow.ts';
import { ContactChoice, jsonOf } from './ContactChoice.tsx';

/** Lets a contact into an automation by hand. */
export function StartDialog({ workflow: id, onClose }: { workflow: string; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [contactId, setContactId] = useState('');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const start = useMutation({
    mutationFn: (context: unknown) =>
      answer(api.POST('/workflows/{id}/executions', { params: { path: { id } }, body: { contactId, context } })),
    onSuccess: async (made) => {
      await refreshWorkflows(queries, project);
      await navigate({
        to: '/app/$project/workflows/$workflow/executions/$execution',
        params: { project, workflow: id, execution: made.id },
      });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    try {
      const context = jsonOf(text);
      setProblem(undefined);
      start.mutate(context);
    } catch {
      setProblem('Enter valid JSON.');
    }
  };
  return (
    <Dialog title="Start for contact" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <ContactChoice value={contactId} onChange={setContactId} />
        <TextArea
          label="Context (JSON, optional)"
          hint="Like the data of an event: available in templates, and as event.… in conditions."
          spellCheck={false}
          dir="ltr"
          value={text}
          problem={problem}
          onChange={(event) => setText(event.target.value)}
        />
        {start.error ? <Problem error={start.error} /> : null}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={start.isPending} disabled={contactId === ''}>
            Start
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
