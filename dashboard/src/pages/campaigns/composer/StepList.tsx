import { Link, useLinkProps } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { buttonClass } from '../../../ui/Button.tsx';
import { counted } from '../../../words/numbers.ts';
import { type ComposerStep, composerSteps } from '../rules/steps.ts';

/** The steps of the composer as links, each with what is still to be done there. */
export function StepList({
  step,
  missing,
  onLeave,
}: {
  step: ComposerStep;
  missing: Record<ComposerStep, readonly string[]>;
  /** A step is left for another one. */
  onLeave: () => void;
}) {
  const at = composerSteps.findIndex(({ key }) => key === step);
  return (
    <nav aria-label="Steps">
      <ol className="flex flex-wrap gap-x-1 gap-y-1 border-b border-line px-2">
        {composerSteps.map(({ key, name }, n) => {
          const open = missing[key].length;
          const isDone = open === 0 && n < at;
          return (
            <li key={key}>
              <StepLink to={key} isCurrent={key === step} onLeave={onLeave}>
                <span
                  aria-hidden
                  className="grid size-5 place-items-center rounded-full border border-edge text-xs tabular-nums max-sm:hidden [&_svg]:size-3"
                >
                  {isDone ? <Check /> : n + 1}
                </span>
                {name}
                {open > 0 ? (
                  <span className="text-xs font-normal text-warn">{counted(open, 'thing')} missing</span>
                ) : null}
              </StepLink>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

function StepLink({
  to,
  isCurrent,
  onLeave,
  children,
}: {
  to: ComposerStep;
  isCurrent: boolean;
  onLeave: () => void;
  children: ReactNode;
}) {
  const link = useLinkProps({ to: '.', search: (now) => ({ ...now, step: to }), onClick: onLeave });
  return (
    <a
      {...link}
      // The router's own word for the link of the present address is “page”.
      aria-current={isCurrent ? 'step' : undefined}
      className="-mb-px flex min-h-10 items-center gap-2 border-b-2 border-transparent px-2 py-1.5 font-medium text-muted no-underline hover:text-ink aria-[current=step]:border-accent-solid aria-[current=step]:text-ink"
    >
      {children}
    </a>
  );
}

/** Lists the missing parts, each with a link to its step. */
export function MissingNotes({ missing }: { missing: Record<ComposerStep, readonly string[]> }) {
  const open = composerSteps.flatMap(({ key, name }) => missing[key].map((text) => ({ key, name, text })));
  return (
    <ul className="flex flex-col gap-1">
      {open.map(({ key, name, text }) => (
        <li key={text}>
          {text}{' '}
          <Link to="." search={(before) => ({ ...before, step: key })}>
            Go to {name.toLowerCase()}
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Leads to the next step. */
export function NextStep({ step, onLeave }: { step: ComposerStep; onLeave: () => void }) {
  const next = composerSteps[composerSteps.findIndex(({ key }) => key === step) + 1];
  if (next === undefined) return null;
  return (
    <Link className={buttonClass('primary')} to="." search={(now) => ({ ...now, step: next.key })} onClick={onLeave}>
      Continue to {next.name.toLowerCase()}
    </Link>
  );
}
