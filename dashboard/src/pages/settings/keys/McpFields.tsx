import { SelectField, TextField } from '../../../ui/Field.tsx';
import type { ApiKey } from './scopes.ts';

/** The permissions of a key for AI assistants. */
export type Mcp = Required<NonNullable<ApiKey['mcp']>>;

/** The permissions of a key without the setting. */
export const readOnly: Mcp = { mode: 'read', mostRecipients: 50, needsHuman: 'above' };

const modes: Record<Mcp['mode'], string> = {
  read: 'Read only',
  plan: 'Read and make plans',
  act: 'Read, make plans and carry them out',
};
const approvals: Record<Mcp['needsHuman'], string> = {
  above: 'For plans above this number',
  always: 'For every plan',
  never: 'Never: larger plans are refused',
};

/** Returns the permissions of a key, with defaults for absent ones. */
export function mcpOf({ mcp }: Pick<ApiKey, 'mcp'>): Mcp {
  return { ...readOnly, ...mcp };
}

/** A key's limits for AI assistants, in words. */
export function mcpText({ mode, mostRecipients, needsHuman }: Mcp): string {
  if (mode !== 'act') return modes[mode].toLowerCase();
  return needsHuman === 'always' ? 'acts with approval' : `acts for up to ${mostRecipients} contacts`;
}

/** Chooses what an AI assistant may do with a key. */
export function McpFields({ value, onChange }: { value: Mcp; onChange: (value: Mcp) => void }) {
  return (
    <>
      <SelectField
        label="AI assistants"
        hint="What a language model may do with this key over MCP, within its scopes"
        value={value.mode}
        onChange={(event) => onChange({ ...value, mode: event.target.value as Mcp['mode'] })}
      >
        {Object.entries(modes).map(([mode, text]) => (
          <option key={mode} value={mode}>
            {text}
          </option>
        ))}
      </SelectField>
      {value.mode === 'read' ? null : (
        <>
          <TextField
            label="Contacts per plan"
            type="number"
            min={0}
            max={10_000_000}
            required
            value={value.mostRecipients}
            onChange={(event) => onChange({ ...value, mostRecipients: Number(event.target.value) })}
          />
          <SelectField
            label="Approval"
            hint="A member approves plans on this page."
            value={value.needsHuman}
            onChange={(event) => onChange({ ...value, needsHuman: event.target.value as Mcp['needsHuman'] })}
          >
            {Object.entries(approvals).map(([when, text]) => (
              <option key={when} value={when}>
                {text}
              </option>
            ))}
          </SelectField>
        </>
      )}
    </>
  );
}
