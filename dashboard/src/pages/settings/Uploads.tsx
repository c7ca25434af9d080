import { Card } from '../../ui/Page.tsx';
import { ImageUpload } from '../mail/ImageUpload.tsx';

/** Pictures for mail: uploaded once, they can be loaded by every mail client for good. */
export function Uploads() {
  return (
    <Card title="Pictures for mail">
      <div className="stack">
        <p className="muted">
          An uploaded picture has an address that never changes and that everybody can load. Copy it from here into mail
          that your own programs send; in the editors of campaigns and templates there is a button for it.
        </p>
        <ImageUpload />
      </div>
    </Card>
  );
}
