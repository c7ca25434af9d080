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
    <Card title="Pictures for mail">
      <div className="stack">
        <p className="muted">
          An uploaded picture has an address that never changes and that everybody can load. Copy it from here into mail
          that your own programs send; in the editors of campaigns and templates there is a button for it.
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
      title={`Delete ${image.filename}`}
      action="Delete the picture"
      onConfirm={async () => {
        await answer(api.DELETE('/uploads/{id}', { params }));
        toast(`“${image.filename}” is deleted`);
        await queries.invalidateQueries({ queryKey: ['uploads', project] });
      }}
      onClose={onClose}
    >
      <div className="stack">
        <p>
          The picture is gone for good. All mail that shows it, also what was delivered long ago, has a gap in its place
          from then on, except where a mail program has kept the picture.
        </p>
        <Shown query={usage}>
          {({ templates, campaigns, searchedCampaigns }) =>
            templates.length + campaigns.length === 0 ? (
              <Note>
                No template and none of the newest {searchedCampaigns} campaigns shows it. Mail that your own programs
                wrote is not looked at.
              </Note>
            ) : (
              <Note tone="warn">
                It is shown by
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
