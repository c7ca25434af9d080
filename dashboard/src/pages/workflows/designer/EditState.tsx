import { Button } from '../../../ui/Button.tsx';
import { Note } from '../../../ui/States.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { editorName } from '../workflow.ts';
import type { Editing } from './editing.ts';

/** Shows the state of an edit: changes by others, pending decisions, and that it was restored. */
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
              {news.wasRefused ? 'Your changes were not saved over theirs. ' : ''}
              {news.isMerged
                ? 'You see their version with your changes on top. Review it before you publish.'
                : 'It is included in what you see.'}
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
            {conflicts.length === 1 ? 'This step was' : 'These steps were'} changed by both of you. You see your
            version. Choose which one to keep:
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
          You have unpublished changes from <Timestamp at={foundFrom} />, kept in this browser.
        </Note>
      ) : null}
      {isKept ? null : (
        <Note tone="warn">This browser can’t keep drafts. Publish before you leave, or your changes are lost.</Note>
      )}
    </>
  );
}
