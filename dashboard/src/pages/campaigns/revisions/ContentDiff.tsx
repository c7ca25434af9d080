import { diffWordsWithSpace } from 'diff';
import { counted } from '../../../words/numbers.ts';
import { type ChangedLines, changedLines } from '../rules/changed-lines.ts';

/** A message as it is sent: its subject, and its HTML source. */
export interface Written {
  subject: string;
  html: string;
}

/** Shows the changes of a new version: words of the subject, and lines of the HTML source. */
export function ContentDiff({ before, after }: { before: Written; after: Written }) {
  const lines = changedLines(before.html, after.html);
  return (
    <section className="stack" aria-label="Changes">
      {before.subject === after.subject ? null : (
        <dl className="facts">
          <dt>Subject</dt>
          <dd dir="auto" className="break">
            {placed(diffWordsWithSpace(before.subject, after.subject)).map(({ at, value, added, removed }) =>
              added ? (
                <ins key={at}>{value}</ins>
              ) : removed ? (
                <del key={at}>{value}</del>
              ) : (
                <span key={at}>{value}</span>
              ),
            )}
          </dd>
        </dl>
      )}
      {lines.length === 0 ? null : (
        <section
          className="max-h-80 overflow-auto rounded-md border border-line p-2"
          aria-label="HTML changes"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
        >
          {placed(lines).map((part) => (
            <Part key={part.at} part={part} />
          ))}
        </section>
      )}
    </section>
  );
}

const lineStyles = {
  same: { Tag: 'span', sign: ' ', className: '' },
  removed: { Tag: 'del', sign: '−', className: 'text-bad no-underline' },
  added: { Tag: 'ins', sign: '+', className: 'text-good no-underline' },
} as const;

function Part({ part: { type, lines } }: { part: ChangedLines }) {
  if (type === 'hidden') return <p className="muted my-1">{counted(lines.length, 'unchanged line')}</p>;
  const { Tag, sign, className } = lineStyles[type];
  return (
    <Tag className={`block font-mono text-xs whitespace-pre-wrap break-words ${className}`}>
      {lines.map((line) => `${sign} ${line}`).join('\n')}
    </Tag>
  );
}

// Parts have no name but their place, and are never moved.
function placed<Item>(items: readonly Item[]): (Item & { at: number })[] {
  return items.map((item, at) => ({ ...item, at }));
}
