import { TextField } from '../../ui/Field.tsx';

interface Credential {
  value: string;
  problem?: string | undefined;
  onChange: (value: string) => void;
}

/** The address that somebody signs in with. */
export function EmailField({ onChange, ...rest }: Credential) {
  return (
    <TextField
      label="Email address"
      type="email"
      autoComplete="username"
      required
      onChange={(event) => onChange(event.target.value)}
      {...rest}
    />
  );
}

/** A password that is being chosen. */
export function NewPasswordField({ label, onChange, ...rest }: Credential & { label: string }) {
  return (
    <TextField
      label={label}
      type="password"
      autoComplete="new-password"
      hint="At least 6 characters. A passphrase is stronger."
      required
      onChange={(event) => onChange(event.target.value)}
      {...rest}
    />
  );
}
