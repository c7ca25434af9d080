import { Check, CircleSlash, Info } from 'lucide-react';
import type { components } from '../../api/schema.d.ts';
import { WithAddresses } from '../../ui/Address.tsx';
import { Badge, type Tone } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { Note } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { FixButton } from './FixButton.tsx';
import { useOpen } from './use-open.ts';

export type Explanation = components['schemas']['Explanation'];
export type About = components['schemas']['ExplainRequest']['about'];
type Decision = Explanation['decisions'][number];

const verdicts: Record<Explanation['verdict'], { name: string; tone: Tone }> = {
  received: { name: 'Received', tone: 'good' },
  sent: { name: 'Sent', tone: 'good' },
  will: { name: 'Pending', tone: 'info' },
  did_not: { name: 'Not received', tone: 'bad' },
  will_not: { name: 'Will not receive it', tone: 'warn' },
  cannot_tell: { name: 'Unconfirmed', tone: 'warn' },
};

const marks = {
  pass: { icon: Check, name: 'Passed', color: 'text-good' },
  stop: { icon: CircleSlash, name: 'Stopped here', color: 'text-bad' },
  info: { icon: Info, name: 'Note', color: 'text-muted' },
};

/** An answer to "why?": the reason, then every decision on the way, and what would change it. */
export function Trail({ explanation, onFixed }: { explanation: Explanation; onFixed: () => void }) {
  const { verdict, sentence, contact, decisions, next, fixes } = explanation;
  const { name, tone } = verdicts[verdict];
  return (
    <div className="stack">
      <Note tone={tone}>
        <p className="break">
          <span className="-ms-2">
            <Badge tone={tone}>{name}</Badge>
          </span>{' '}
          <WithAddresses>{sentence}</WithAddresses>
        </p>
      </Note>
      <ol className="stack" aria-label="Decisions">
        {decisions.map((decision, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the answer never changes, and two decisions may be equal
          <Line key={place} decision={decision} />
        ))}
      </ol>
      {next ? (
        <p className="break muted">
          Next
          {next.at ? (
            <>
              , <Timestamp at={next.at} />
            </>
          ) : null}
          : <WithAddresses>{next.what}</WithAddresses>
        </p>
      ) : null}
      <div className="row">
        {fixes.map((fix) => (
          <FixButton key={fix.path} fix={fix} onFixed={onFixed} />
        ))}
        <CopyButton what="explanation for support" text={textOf(explanation)} />
        <span className="muted break">{contact.email}</span>
      </div>
    </div>
  );
}

function Line({ decision }: { decision: Decision }) {
  const { outcome, sentence, at, basis, dataAsOf, source } = decision;
  const { icon: Icon, name, color } = marks[outcome];
  const open = useOpen();
  return (
    <li className="flex gap-3">
      <Icon aria-label={name} role="img" className={`mt-1 size-4 shrink-0 ${color}`} />
      <div className="min-w-0">
        <div className={`break ${outcome === 'stop' ? 'font-medium' : ''}`}>
          <WithAddresses>{sentence}</WithAddresses>
        </div>
        <div className="row text-sm text-muted">
          {at ? <Timestamp at={at} /> : null}
          <span>{basis === 'recorded' ? 'Recorded' : 'Evaluated now'}</span>
          {dataAsOf ? (
            <span>
              with values of <Timestamp at={dataAsOf} />
            </span>
          ) : null}
          {source ? (
            <Button variant="plain" size="small" onClick={() => open(source.href)}>
              Open {source.type === 'execution' ? 'run' : source.type}
            </Button>
          ) : null}
        </div>
      </div>
    </li>
  );
}

function textOf({ contact, verdict, sentence, decisions, permalink }: Explanation): string {
  const lines = decisions.map(({ outcome, check, sentence: said, at, basis }) =>
    [outcome.padEnd(4), at ?? '', check, `(${basis})`, said].filter(Boolean).join(' '),
  );
  return [`${contact.email}: ${verdict}. ${sentence}`, ...lines, `permalink: ${permalink}`].join('\n');
}
