import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { loaded } from '../../../api/load.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Loading, Note } from '../../../ui/States.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { counted } from '../../../words/numbers.ts';
import { useSource } from '../../mail/brand.ts';
import type { MailContent } from '../../mail/content.ts';
import type { Campaign } from '../campaign.ts';
import type { Stats } from '../run/Progress.tsx';
import { ContentFields, useWriting, writtenBody } from './ContentFields.tsx';

const ContentDiff = lazy(() =>
  loaded(() => import('./ContentDiff.tsx')).then((part) => ({ default: part.ContentDiff })),
);

/** Replaces the content of a paused campaign for who has not got it yet, and lets it continue where that is wanted. */
export function FixDialog({
  campaign,
  stats,
  refresh,
  onClose,
}: {
  campaign: Campaign;
  stats: Stats;
  refresh: () => Promise<void>;
  onClose: () => void;
}) {
  const { id, contentVersion, revision } = campaign;
  const writing = useWriting(campaign);
  const path = { id };
  const fix = useMutation({
    mutationFn: async (thenResume: boolean) => {
      const { subject, document, body } = writing.content;
      const header = { 'If-Match': `"${revision}"` };
      await answer(
        api.POST('/campaigns/{id}/revise', {
          params: { path, header },
          body: { subject, ...writtenBody({ document, body }) },
        }),
      );
      if (thenResume) await answer(api.POST('/campaigns/{id}/resume', { params: { path } }));
    },
    onSuccess: async (_, thenResume) => {
      toast(thenResume ? `Sending continues with version ${contentVersion + 1}` : 'Saved. The campaign stays paused.');
      await refresh();
      onClose();
    },
  });
  const [confirmed, setConfirmed] = useState(false);
  const sourceOf = useSource();
  const written = (content: MailContent) => ({ subject: content.subject, html: sourceOf(content) });
  const isReady = writing.changed.length > 0 && confirmed;
  return (
    <Dialog wide title={`Send version ${contentVersion + 1} to the remaining recipients?`} onClose={onClose}>
      <Note>
        {counted(stats.sentCount, 'recipient has', 'recipients have')} already received this campaign and won’t get the
        new version. {counted(stats.pendingCount, 'recipient gets', 'recipients get')} it instead of the old one.
      </Note>
      <ContentFields writing={writing} error={fix.error} />
      <p aria-live="polite">
        {writing.changed.length === 0 ? 'Nothing has changed yet.' : `Changed: ${writing.changed.join(' and ')}.`}
      </p>
      {writing.changed.length === 0 ? null : (
        <Suspense fallback={<Loading />}>
          <ContentDiff before={written(writing.before)} after={written(writing.content)} />
        </Suspense>
      )}
      <label className="row">
        <input type="checkbox" checked={confirmed} onChange={(event) => setConfirmed(event.target.checked)} /> I have
        checked the new version
      </label>
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button busy={fix.isPending} disabled={!isReady} onClick={() => fix.mutate(false)}>
          Save and stay paused
        </Button>
        <Button variant="primary" busy={fix.isPending} disabled={!isReady} onClick={() => fix.mutate(true)}>
          Save and continue
        </Button>
      </footer>
    </Dialog>
  );
}
