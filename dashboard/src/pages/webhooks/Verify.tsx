import { useState } from 'react';
import { useFilters } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { TextArea, TextField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note } from '../../ui/States.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { type ReceivedCall, signatureProblem } from './signature.ts';
import { snippets } from './snippets.ts';

const nothing: ReceivedCall = { secret: '', id: '', timestamp: '', signature: '', body: '' };

/** How receivers verify calls: code to copy, and a check of one call. */
export function Verify() {
  return (
    <div className="stack">
      <Snippets />
      <Check />
    </div>
  );
}

function Snippets() {
  const [{ language }, change] = useFilters();
  return (
    <Card title="Verify requests in your code">
      <Tabs
        label="Language"
        value={snippets.find(({ key }) => key === language)?.key ?? 'node'}
        tabs={snippets.map(({ key, name, install, code }) => ({
          key,
          name,
          content: (
            <div className="stack">
              <div className="row">
                <code>{install}</code>
                <CopyButton text={code} what={`the ${name} code`} />
              </div>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
              <section className="json" tabIndex={0} aria-label={`${name} code`}>
                <pre>{code}</pre>
              </section>
            </div>
          ),
        }))}
        onChange={(key) => change({ language: key === 'node' ? undefined : key })}
      />
    </Card>
  );
}

/** Checks the signature of one call in the browser: the secret goes nowhere. */
function Check() {
  const [call, setCall] = useState(nothing);
  const [result, setResult] = useState<{ problem: string | null } | null>(null);
  const fieldOf = (name: keyof ReceivedCall) => ({
    required: true,
    value: call[name],
    onChange: (event: { target: { value: string } }) => {
      setCall({ ...call, [name]: event.target.value });
      setResult(null);
    },
  });
  return (
    <Card title="Check a signature">
      <Form onSubmit={() => void signatureProblem(call).then((problem) => setResult({ problem }))}>
        <p className="muted">
          Paste a request as your endpoint received it. The check runs in your browser, and the secret stays there.
        </p>
        <TextField
          label="Signing secret"
          type="password"
          autoComplete="off"
          placeholder="whsec_…"
          {...fieldOf('secret')}
        />
        <div className="stretch">
          <TextField label="webhook-id" {...fieldOf('id')} />
          <TextField label="webhook-timestamp" {...fieldOf('timestamp')} />
          <TextField label="webhook-signature" {...fieldOf('signature')} />
        </div>
        <TextArea label="Body" {...fieldOf('body')} />
        <div role="status">
          {result ? (
            <Note tone={result.problem === null ? 'good' : 'warn'}>
              {result.problem ?? 'The signature is valid: this request came from Fernpost, unchanged.'}
            </Note>
          ) : null}
        </div>
        <div>
          <Button type="submit" variant="primary">
            Check signature
          </Button>
        </div>
      </Form>
    </Card>
  );
}
