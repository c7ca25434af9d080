import { type EmailDocument, isVariableName, variableText } from '@fernpost/email-document';
import { Braces } from 'lucide-react';
import { type ComponentProps, useRef, useState } from 'react';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { useVariables } from './variables.ts';

/** A line of text into which variables are inserted at the cursor, with a fallback. */
export function VariableField({
  onText,
  ...field
}: Omit<ComponentProps<typeof TextField>, 'value' | 'onChange' | 'onSelect'> & {
  value: string;
  onText: (text: string) => void;
}) {
  const cursor = useRef<number | null>(null);
  const [choosing, setChoosing] = useState(false);
  const { value } = field;
  return (
    <div className="flex items-end gap-1 [&>.field]:flex-1">
      <TextField
        {...field}
        onSelect={(event) => {
          cursor.current = event.currentTarget.selectionEnd;
        }}
        onChange={(event) => onText(event.target.value)}
      />
      <Button
        variant="plain"
        aria-label="Insert a variable"
        title="Insert a variable"
        onClick={() => setChoosing(true)}
      >
        <Braces aria-hidden />
      </Button>
      {choosing ? (
        <VariableDialog
          onInsert={(text) => {
            const at = cursor.current ?? value.length;
            onText(value.slice(0, at) + text + value.slice(at));
            cursor.current = at + text.length;
          }}
          onClose={() => setChoosing(false)}
        />
      ) : null}
    </div>
  );
}

/** The text that inboxes show behind the subject. An email that is written as HTML has none of its own. */
export function PreheaderField({
  document,
  onChange,
}: {
  document: EmailDocument | null;
  onChange: (change: { document: EmailDocument }) => void;
}) {
  return document === null ? null : (
    <VariableField
      label="Preheader"
      placeholder="Shown after the subject in the inbox"
      maxLength={300}
      value={document.preheader}
      onText={(preheader) => onChange({ document: { ...document, preheader } })}
    />
  );
}

function VariableDialog({ onInsert, onClose }: { onInsert: (text: string) => void; onClose: () => void }) {
  const variables = useVariables();
  const [name, setName] = useState('');
  const [fallback, setFallback] = useState('');
  const isName = isVariableName(name.trim());
  return (
    <Dialog title="Insert a variable" onClose={onClose}>
      <Form
        onSubmit={() => {
          onInsert(variableText(name.trim(), fallback.trim()));
          onClose();
        }}
      >
        <TextField
          label="Variable"
          hint="A field of your contacts, or a value that you send as data."
          list="subject-variables"
          required
          value={name}
          problem={name.trim() === '' || isName ? undefined : 'Use letters, digits, dots and spaces.'}
          onChange={(event) => setName(event.target.value)}
        />
        <datalist id="subject-variables">
          {variables.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <TextField
          label="Fallback"
          hint="Shown to contacts without a value."
          placeholder="there"
          maxLength={200}
          value={fallback}
          onChange={(event) => setFallback(event.target.value)}
        />
        {isName ? (
          <p className="muted">
            Inserts <code className="break">{variableText(name.trim(), fallback.trim())}</code>
          </p>
        ) : null}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={!isName}>
            Insert variable
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
