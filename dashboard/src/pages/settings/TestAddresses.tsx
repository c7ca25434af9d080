import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form, FormProblem } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import { toast } from '../../ui/toasts.tsx';
import type { Project } from './project.ts';

/** The addresses beside those of members that can get tests of campaigns and templates. */
export function TestAddresses({ project, isAdmin }: { project: Project; isAdmin: boolean }) {
  const [text, setText] = useState(project.testAddresses.join(', '));
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () =>
      answer(
        api.PATCH('/users/@me/projects/{id}', {
          params: { path: { id: project.id } },
          body: { testAddresses: text.split(/[\s,;]+/).filter(Boolean) },
        }),
      ),
    onSuccess: async (saved) => {
      setText(saved.testAddresses.join(', '));
      toast('Test addresses saved');
      await queries.invalidateQueries({ queryKey: ['projects'] });
    },
  });
  return (
    <Card title="Test emails">
      <Form onSubmit={() => save.mutate()}>
        <FormProblem error={save.error} fields={[]} />
        <TextField
          label="Test addresses"
          hint="Up to 20 addresses, separated by commas, that can receive test emails in addition to members."
          disabled={!isAdmin}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <div>
          <Button type="submit" variant="primary" busy={save.isPending} disabled={!isAdmin}>
            Save addresses
          </Button>
        </div>
      </Form>
    </Card>
  );
}
