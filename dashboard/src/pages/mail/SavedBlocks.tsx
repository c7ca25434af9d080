import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { Empty, Note, Problem } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';

export type SavedBlock = components['schemas']['SavedBlockList']['data'][number];

/** The saved blocks of the project, by name; none until they are known. */
export function useSavedBlocks(): readonly SavedBlock[] {
  const project = useProjectId();
  const blocks = useQuery({ queryKey: ['blocks', project], queryFn: () => answer(api.GET('/blocks')) });
  return blocks.data?.data ?? [];
}

function useRefresh() {
  const project = useProjectId();
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['blocks', project] });
}

/** Saves blocks under a name, or in place of those that have it. */
export function SaveBlockDialog({ content, onClose }: { content: SavedBlock['content']; onClose: () => void }) {
  const saved = useSavedBlocks();
  const refresh = useRefresh();
  const [typed, setName] = useState('');
  const name = typed.trim();
  const existing = saved.find((block) => block.name === name);
  const save = useMutation({
    mutationFn: () =>
      existing
        ? answer(api.PATCH('/blocks/{id}', { params: { path: { id: existing.id } }, body: { content } }))
        : answer(api.POST('/blocks', { body: { name, content } })),
    onSuccess: async () => {
      toast(`Block “${name}” saved`);
      onClose();
      await refresh();
    },
  });
  return (
    <Dialog
      title={content.length === 1 ? 'Save this block' : `Save ${content.length} blocks`}
      description="Insert it into any email from the Block menu or by typing /."
      onClose={onClose}
    >
      <Form onSubmit={() => save.mutate()}>
        <TextField
          label="Block name"
          placeholder="Signature"
          required
          maxLength={100}
          value={typed}
          onChange={(event) => setName(event.target.value)}
        />
        {existing ? <Note>A block with this name exists. Emails that contain it keep their copy.</Note> : null}
        {save.error ? <Problem error={save.error} /> : null}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={save.isPending} disabled={name === ''}>
            {existing ? 'Replace block' : 'Save block'}
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}

/** Renames and deletes saved blocks. */
export function SavedBlocksDialog({ onClose }: { onClose: () => void }) {
  const saved = useSavedBlocks();
  const refresh = useRefresh();
  const [deleting, setDeleting] = useState<SavedBlock | null>(null);
  return (
    <Dialog
      title="Saved blocks"
      description="Changing or deleting a saved block leaves emails as they are: they contain copies."
      onClose={onClose}
    >
      {saved.length === 0 ? (
        <Empty title="No saved blocks yet">Select blocks in an email and choose “Save as block”.</Empty>
      ) : (
        <ul className="stack" aria-label="Saved blocks">
          {saved.map((block) => (
            <li key={block.id}>
              <SavedBlockRow block={block} onDelete={() => setDeleting(block)} />
            </li>
          ))}
        </ul>
      )}
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
      {deleting ? (
        <ConfirmDialog
          title={`Delete the saved block ${deleting.name}?`}
          action="Delete block"
          onConfirm={async () => {
            await answer(api.DELETE('/blocks/{id}', { params: { path: { id: deleting.id } } }));
            await refresh();
          }}
          onClose={() => setDeleting(null)}
        >
          Emails that contain it keep their copy.
        </ConfirmDialog>
      ) : null}
    </Dialog>
  );
}

function SavedBlockRow({ block, onDelete }: { block: SavedBlock; onDelete: () => void }) {
  const refresh = useRefresh();
  const [name, setName] = useState(block.name);
  const rename = useMutation({
    mutationFn: () =>
      answer(api.PATCH('/blocks/{id}', { params: { path: { id: block.id } }, body: { name: name.trim() } })),
    onSuccess: refresh,
  });
  return (
    <Form onSubmit={() => rename.mutate()}>
      <div className="filters">
        <TextField
          label={`Name of ${block.name}`}
          required
          maxLength={100}
          value={name}
          problem={rename.error instanceof Error ? rename.error.message : undefined}
          onChange={(event) => setName(event.target.value)}
        />
        <Button
          type="submit"
          busy={rename.isPending}
          disabled={name.trim() === '' || name.trim() === block.name}
          aria-label={`Rename ${block.name}`}
        >
          Rename
        </Button>
        <Button variant="danger" aria-label={`Delete ${block.name}`} onClick={onDelete}>
          Delete
        </Button>
      </div>
    </Form>
  );
}
