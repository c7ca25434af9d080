import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../../ui/Form.tsx';
import { RotateDialog } from '../../../ui/RotateDialog.tsx';
import { type Mcp, McpFields, mcpOf, readOnly } from './McpFields.tsx';
import { ScopeMatrix } from './ScopeMatrix.tsx';
import { type ApiKey, presets, type Scope } from './scopes.ts';

const dayMs = 86_400_000;
const lives = { '': 'Never', '30': 'In 30 days', '90': 'In 90 days', '365': 'In one year' } as const;
const expiries = Object.entries(lives).map(([value, text]) => (
  <option key={value} value={value}>
    {text}
  </option>
));
const fields = ['name', 'scopes', 'senderDomains', 'recipients', 'expiresAt'];

/** Creates a key; `preset` chooses its scopes to begin with. */
export function NewKeyDialog({
  project,
  preset,
  onCreated,
  onClose,
}: {
  project: string;
  preset: string | undefined;
  onCreated: (name: string, key: string) => Promise<void>;
  onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<Scope[]>([...(presets[preset ?? '']?.scopes ?? [])]);
  const [senders, setSenders] = useState('');
  const [isTest, setTest] = useState(false);
  const [recipients, setRecipients] = useState('');
  const [life, setLife] = useState('');
  const [mcp, setMcp] = useState(readOnly);
  const create = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/users/@me/projects/{id}/api-keys', {
          params: { path: { id: project } },
          body: newKeyOf({ name, scopes, senders, isTest, recipients, life, mcp }),
        }),
      ),
    onSuccess: (created) => onCreated(created.name, created.key),
  });
  return (
    <Dialog title="Create an API key" onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <TextField
          label="Name"
          hint="What uses this key, for example Shop or CI"
          required
          value={name}
          problem={problemOf(create.error, 'name')}
          onChange={(event) => setName(event.target.value)}
        />
        <ScopeMatrix value={scopes} problem={problemOf(create.error, 'scopes')} onChange={setScopes} />
        <TextField
          label="Sender domains"
          hint="Separated by commas. Leave empty to allow every verified domain."
          placeholder="example.com"
          value={senders}
          onChange={(event) => setSenders(event.target.value)}
        />
        <CheckField
          label="Test key"
          hint="Emails to anyone else are stored as suppressed and never sent."
          checked={isTest}
          onChange={(event) => setTest(event.target.checked)}
        />
        {isTest ? (
          <TextArea
            label="Allowed recipients"
            hint="Addresses or domains, one per line"
            required
            value={recipients}
            onChange={(event) => setRecipients(event.target.value)}
          />
        ) : null}
        <McpFields value={mcp} onChange={setMcp} />
        <SelectField label="Expires" value={life} onChange={(event) => setLife(event.target.value)}>
          {expiries}
        </SelectField>
        <FormProblem error={create.error} fields={['name', 'scopes']} />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={create.isPending}>
            Create key
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}

type NewKey = components['schemas']['CreateProjectApiKeyRequest'];

function newKeyOf(form: {
  name: string;
  scopes: Scope[];
  senders: string;
  isTest: boolean;
  recipients: string;
  life: string;
  mcp: Mcp;
}): NewKey {
  const { name, scopes, senders, isTest, life, mcp } = form;
  const recipients = listed(form.recipients);
  const domains = recipients.filter((each) => !each.includes('@'));
  const addresses = recipients.filter((each) => each.includes('@'));
  return {
    name,
    scopes,
    ...(senders.trim() ? { senderDomains: listed(senders) } : {}),
    ...(isTest ? { recipients: { domains, addresses } } : {}),
    ...(mcp.mode === 'read' ? {} : { mcp }),
    ...(life ? { expiresAt: new Date(Date.now() + Number(life) * dayMs).toISOString() } : {}),
  };
}

function listed(text: string): string[] {
  return text.split(/[\s,]+/).filter((each) => each !== '');
}

/** Renames a key and changes what it may do. */
export function EditKeyDialog({
  project,
  apiKey,
  onSaved,
  onClose,
}: {
  project: string;
  apiKey: ApiKey;
  onSaved: (name: string) => Promise<void>;
  onClose: () => void;
}) {
  const [name, setName] = useState(apiKey.name);
  const [scopes, setScopes] = useState(apiKey.scopes);
  const [mcp, setMcp] = useState(mcpOf(apiKey));
  const save = useMutation({
    mutationFn: () =>
      answer(
        api.PATCH('/users/@me/projects/{id}/api-keys/{keyId}', {
          params: { path: { id: project, keyId: apiKey.id } },
          body: { name, scopes, mcp: mcp.mode === 'read' ? null : mcp },
        }),
      ),
    onSuccess: (saved) => onSaved(saved.name),
  });
  return (
    <Dialog title={`Edit ${apiKey.name}`} onClose={onClose}>
      <Form onSubmit={() => save.mutate()}>
        <TextField
          label="Name"
          required
          value={name}
          problem={problemOf(save.error, 'name')}
          onChange={(event) => setName(event.target.value)}
        />
        <ScopeMatrix value={scopes} problem={problemOf(save.error, 'scopes')} onChange={setScopes} />
        <McpFields value={mcp} onChange={setMcp} />
        <FormProblem error={save.error} fields={fields} />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={save.isPending}>
            Save key
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}

const overlaps = {
  '0': 'Immediately',
  '1': 'In 1 hour',
  '24': 'In 24 hours',
  '72': 'In 3 days',
  '168': 'In 7 days',
} as const;

/** Gives a key a new secret; the old one works on for a while. */
export function RotateKeyDialog({
  project,
  apiKey,
  onRotated,
  onClose,
}: {
  project: string;
  apiKey: ApiKey;
  onRotated: (key: string) => Promise<void>;
  onClose: () => void;
}) {
  return (
    <RotateDialog
      title={`Rotate ${apiKey.name}?`}
      description="You get a new key. Replace the old one everywhere while both work."
      label="Old key expires"
      overlaps={overlaps}
      action="Rotate key"
      rotate={async (overlapHours) => {
        const path = { id: project, keyId: apiKey.id };
        const rotated = api.POST('/users/@me/projects/{id}/api-keys/{keyId}/rotate', {
          params: { path },
          body: { overlapHours },
        });
        await onRotated((await answer(rotated)).key);
      }}
      onClose={onClose}
    />
  );
}
