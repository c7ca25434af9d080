import { useRef, useState } from 'react';
import { Field, inputClass, TextField } from '../../ui/Field.tsx';
import { useSenderDomains } from './senders.ts';

interface Props {
  value: string;
  problem: string | undefined;
  onChange: (address: string) => void;
}

/** The address that an email is sent from: a name of one's own at a verified domain. Without a domain it is an ordinary field. */
export function SenderField(props: Props) {
  const domains = useSenderDomains() ?? [];
  if (domains.length > 0) return <AtDomain {...props} domains={domains} />;
  const { value, problem, onChange } = props;
  return (
    <TextField
      label="From"
      type="email"
      required
      placeholder="news@example.com"
      value={value}
      problem={problem}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function AtDomain({ value, problem, onChange, domains }: Props & { domains: readonly string[] }) {
  const select = useRef<HTMLSelectElement>(null);
  const [name = '', written] = value.split('@');
  const [latest, setLatest] = useState(domains[0] ?? '');
  const domain = written || latest;
  const put = (typed: string, at: string) => {
    // A whole address, by the browser's own completion or from the clipboard, brings its domain along.
    const [local = '', other] = typed.trim().split('@');
    setLatest(other || at);
    onChange(local === '' ? '' : `${local}@${other || at}`);
  };
  return (
    <Field label="From" problem={problem}>
      {(props) => (
        <div className="sender">
          <input
            {...props}
            required
            value={name}
            placeholder="news"
            onChange={(event) => put(event.target.value, domain)}
            onKeyDown={(event) => {
              if (event.key !== '@') return;
              event.preventDefault();
              select.current?.focus();
            }}
          />
          <span aria-hidden>@</span>
          <select
            ref={select}
            className={inputClass}
            aria-label="From domain"
            value={domain}
            onChange={(event) => put(name, event.target.value)}
          >
            {[...new Set([...domains, domain])].map((each) => (
              <option key={each} value={each}>
                {domains.includes(each) ? each : `${each} (not verified)`}
              </option>
            ))}
          </select>
        </div>
      )}
    </Field>
  );
}
