import { Button } from '../../ui/Button.tsx';
import { Note } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import type { Editing } from './editing.ts';
import { editorName } from './workflow.ts';

/** What is to be known about an edit: what others did meanwhile, what is to be decided, and that it was found again. */
export function EditState({ editing, onSelect }: { editing: Editing; onSelect: (stepId: string) => void }) {
  const { news, conflicts, graph, foundFrom, isKept } = editing;
  return (
    <>
      {news ? (
        <div role="alert">
          <Note tone="warn">
            <p>
              <strong className="break">{editorName(news.by)}</strong> has changed this workflow{' '}
              {news.at ? <Timestamp at={news.at} /> : null} while you had it open.{' '}
              {news.wasRefused ? 'So yours was not saved, and nothing of theirs is lost. ' : ''}
              {news.isMerged
                ? 'You see theirs now, with your own changes on top: look it over before you publish.'
                : 'What you see includes it.'}
            </p>
            <Button size="small" onClick={editing.dismissNews}>
              Close
            </Button>
          </Note>
        </div>
      ) : null}
      {conflicts.length > 0 ? (
        <Note tone="warn">
          <p>
            {conflicts.length === 1 ? 'This step was' : 'These steps were'} changed by both of you. Yours is shown;
            decide which one stays:
          </p>
          <span className="row">
            {conflicts.map(({ stepId }) => (
              <Button key={stepId} size="small" onClick={() => onSelect(stepId)}>
                {graph.steps.find(({ id }) => id === stepId)?.name ?? ''}
              </Button>
            ))}
          </span>
        </Note>
      ) : null}
      {foundFrom && !news ? (
        <Note tone="info">
          You have changes here from <Timestamp at={foundFrom} /> that are not published yet. This browser has kept
          them.
        </Note>
      ) : null}
      {isKept ? null : (
        <Note tone="warn">
          This browser keeps nothing for pages: publish before you leave, or your changes are lost.
        </Note>
      )}
    </>
  );
}
