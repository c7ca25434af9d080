import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Empty, Note, Problem, Shown } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { contentNames, contentOf, type MailContent } from './content.ts';
import { RenderedMail } from './MailPreview.tsx';

interface Saved {
  kind: 'campaigns' | 'templates';
  id: string;
  content: MailContent;
  revision: number;
}

/** The versions of a saved message: when and by whom, what each looked like, and a way back to it. */
export function HistoryDialog({
  saved,
  hasChanges,
  onClose,
}: {
  saved: Saved;
  /** Whether something is written that is not saved. */
  hasChanges: boolean;
  onClose: () => void;
}) {
  const { kind, id, revision } = saved;
  const project = useProjectId();
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<number | null>(null);
  const versions = useQuery({
    queryKey: [kind, project, id, 'versions', revision],
    queryFn: async () => (await answer(api.GET(`/${kind}/{id}/versions`, { params: { path: { id } } }))).data,
  });
  const version = chosen ?? versions.data?.[0]?.version ?? null;
  const restore = useMutation({
    mutationFn: () =>
      answer(
        api.POST(`/${kind}/{id}/versions/{version}/restore`, {
          params: { path: { id, version: String(version) }, header: { 'If-Match': `"${revision}"` } },
        }),
      ),
    onSuccess: () => {
      toast(`Version ${version} restored`);
      onClose();
    },
    // After a refusal too: then somebody else has saved.
    onSettled: () => queries.invalidateQueries({ queryKey: [kind, project] }),
  });
  const newest = versions.data?.[0]?.version;
  return (
    <Dialog wide title="Version history" description="Every save is kept, up to the newest 100." onClose={onClose}>
      <Shown query={versions}>
        {(all) =>
          version === null ? (
            <Empty title="No versions yet">The first version is kept with the next save.</Empty>
          ) : (
            <div className="history">
              <VersionList versions={all} chosen={version} onChoose={setChosen} />
              <VersionPreview key={version} saved={saved} version={version} />
            </div>
          )
        }
      </Shown>
      {hasChanges ? <Note>You have unsaved changes. Save them before you restore a version.</Note> : null}
      {restore.error ? <Problem error={restore.error} /> : null}
      <footer>
        <Button onClick={onClose}>Close</Button>
        <Button
          variant="primary"
          busy={restore.isPending}
          disabled={hasChanges || version === null || version === newest}
          onClick={() => restore.mutate()}
        >
          {version === null || version === newest ? 'Restore' : `Restore version ${version}`}
        </Button>
      </footer>
    </Dialog>
  );
}

type Version = components['schemas']['ContentVersionList']['data'][number];

function VersionList({
  versions,
  chosen,
  onChoose,
}: {
  versions: readonly Version[];
  chosen: number;
  onChoose: (version: number) => void;
}) {
  return (
    <fieldset aria-label="Versions">
      {versions.map((each) => (
        <label key={each.version}>
          <input
            type="radio"
            name="version"
            checked={each.version === chosen}
            onChange={() => onChoose(each.version)}
          />
          <span className="stack">
            <span>
              <strong>Version {each.version}</strong> {each === versions[0] ? '(current)' : null}
            </span>
            <span className="muted break">
              <Timestamp at={each.createdAt} /> · {authorName(each.author)}
            </span>
            {each.restoredFrom === null ? null : (
              <span className="muted">Restored from version {each.restoredFrom}</span>
            )}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function VersionPreview({ saved: { kind, id, content: current }, version }: { saved: Saved; version: number }) {
  const found = useQuery({
    queryKey: [kind, useProjectId(), id, 'version', version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const path = { id, version: String(version) };
      const answered = await answer(api.GET(`/${kind}/{id}/versions/{version}`, { params: { path } }));
      return contentOf('data' in answered ? answered.data : answered);
    },
  });
  return (
    <div className="stack">
      <Shown query={found}>
        {(content) => (
          <>
            <p className="muted">{differenceText(content, current)}</p>
            <RenderedMail content={content} />
          </>
        )}
      </Shown>
    </div>
  );
}

function differenceText(content: MailContent, current: MailContent): string {
  const names = (Object.keys(contentNames) as (keyof MailContent)[])
    .filter((key) => textOf(content[key]) !== textOf(current[key]))
    .map((key) => contentNames[key]);
  return names.length === 0 ? 'Same as what is saved now.' : `Differs from what is saved now in: ${names.join(', ')}.`;
}

// The order of keys is the database's in one of them, and that of the form in the other.
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

function authorName(author: Version['author']): string {
  if (author?.name) return author.name;
  const names: Record<string, string> = { user: 'Deleted user', key: 'API key', system: 'Fernpost' };
  return names[author?.kind ?? ''] ?? 'Unknown author';
}
