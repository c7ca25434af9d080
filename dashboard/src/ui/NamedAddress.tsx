import { Address } from './Address.tsx';

/** A contact by name, with the address below; by the address alone where it has no name. */
export function NamedAddress({ name, email }: { name: string | null; email: string }) {
  if (name === null) return <Address>{email}</Address>;
  return (
    <>
      <span className="block" dir="auto">
        {name}{' '}
      </span>
      <span className="block text-sm font-normal text-muted">
        <Address>{email}</Address>
      </span>
    </>
  );
}
