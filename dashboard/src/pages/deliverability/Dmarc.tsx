import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { Badge } from '../../ui/Badge.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { Shown } from '../../ui/States.tsx';

const words = { bad: 'Fix', warn: 'Improve', info: 'Note', good: 'Good' } as const;

/** Explains the DMARC record of a domain and proposes changes, each as a record to copy. */
export function Dmarc({ id, domain }: { id: string; domain: string }) {
  const check = useQuery({
    queryKey: ['dmarc', id],
    queryFn: () => answer(api.GET('/domains/{id}/dmarc', { params: { path: { id } } })),
  });
  return (
    <section aria-label={`DMARC of ${domain}`} className="stack">
      <h3 className="font-medium">DMARC</h3>
      <Shown query={check}>
        {({ state, name, record, inheritedFrom, advice }) => (
          <>
            {state === 'skipped' ? <p className="muted">The mail sandbox doesn’t check DNS.</p> : null}
            {state === 'unanswered' ? (
              <p className="muted">The name servers of this domain don’t respond. Try again in a few minutes.</p>
            ) : null}
            {record ? (
              <p>
                Found at <code>{name}</code>
                {inheritedFrom ? `, which also applies to ${domain}` : ''}: <code className="break">{record}</code>
              </p>
            ) : null}
            <ul className="stack">
              {advice.map(({ code, level, text, value }) => (
                <li key={code} className="grid grid-cols-[5.5rem_minmax(0,1fr)] gap-2">
                  <Badge tone={level}>{words[level]}</Badge>
                  <div className="stack gap-1">
                    <span>{text}</span>
                    {value ? (
                      <div className="row">
                        <code className="break">{value}</code>
                        <CopyButton
                          text={value}
                          what={`the DMARC record for ${domain} (${words[level].toLowerCase()})`}
                        />
                      </div>
                    ) : null}
                  </div>
                </li>
              ))}
            </ul>
          </>
        )}
      </Shown>
    </section>
  );
}
