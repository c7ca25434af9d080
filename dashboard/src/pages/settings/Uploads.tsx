import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note, Shown } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { ImageList } from '../mail/ImageList.tsx';
import { ImageUpload } from '../mail/ImageUpload.tsx';
import type { UploadedImage } from '../mail/image.ts';

/** Pictures for mail: uploaded once, they can be loaded by every mail client until somebody deletes them. */
export function Uploads() {
  const [deleting, setDeleting] = useState<UploadedImage | null>(null);
  return (
    <Card title="Images">
      <div className="stack">
        <p className="muted">
          Images for your emails. Each one has a public URL that never changes: use it from your own code, or insert the
          image in the editor.
        </p>
        <ImageUpload />
        <ImageList
          actions={(image) => (
            <Button size="small" aria-label={`Delete ${image.filename}`} onClick={() => setDeleting(image)}>
              Delete
            </Button>
          )}
        />
      </div>
      {deleting ? <DeleteImage image={deleting} onClose={() => setDeleting(null)} /> : null}
    </Card>
  );
}

function DeleteImage({ image, onClose }: { image: UploadedImage; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const params = { path: { id: image.id } };
  const usage = useQuery({
    queryKey: ['upload-usage', project, image.id],
    queryFn: () => answer(api.GET('/uploads/{id}/usage', { params })),
  });
  return (
    <ConfirmDialog
      title={`Delete ${image.filename}?`}
      action="Delete image"
      onConfirm={async () => {
        await answer(api.DELETE('/uploads/{id}', { params }));
        toast(`“${image.filename}” deleted`);
        await queries.invalidateQueries({ queryKey: ['uploads', project] });
      }}
      onClose={onClose}
    >
      <div className="stack">
        <p>
          The image is deleted permanently. Emails that use it show a gap instead, including those already delivered.
        </p>
        <Shown query={usage}>
          {({ templates, campaigns, searchedCampaigns }) =>
            templates.length + campaigns.length === 0 ? (
              <Note>
                No template and none of the latest {searchedCampaigns} campaigns use it. Emails sent by your own code
                aren’t checked.
              </Note>
            ) : (
              <Note tone="warn">
                It is used in
                <ul>
                  {templates.map(({ id, name }) => (
                    <li key={id}>
                      the template{' '}
                      <Link to="/app/$project/templates/$template" params={{ project, template: id }}>
                        <bdi>{name}</bdi>
                      </Link>
                    </li>
                  ))}
                  {campaigns.map(({ id, name, status }) => (
                    <li key={id}>
                      the campaign{' '}
                      <Link to="/app/$project/campaigns/$campaign" params={{ project, campaign: id }}>
                        <bdi>{name}</bdi>
                      </Link>{' '}
                      ({status.toLowerCase()})
                    </li>
                  ))}
                </ul>
              </Note>
            )
          }
        </Shown>
      </div>
    </ConfirmDialog>
  );
}
