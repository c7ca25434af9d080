import { useState } from 'react';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form, FormProblem } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import type { Project } from './project.ts';
import { useSaved } from './saved.ts';

/** The addresses beside those of members that can get tests of campaigns and templates. */
export function TestAddresses({ project, isAdmin }: { project: Project; isAdmin: boolean }) {
  const [text, setText] = useState(project.testAddresses.join(', '));
  const save = useSaved(project.id, 'Test addresses saved');
  const submit = () =>
    save.mutate(
      { testAddresses: text.split(/[\s,;]+/).filter(Boolean) },
      { onSuccess: (saved) => setText(saved.testAddresses.join(', ')) },
    );
  return (
    <Card title="Test emails">
      <Form onSubmit={submit}>
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
