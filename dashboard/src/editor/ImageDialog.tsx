import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Refusal } from '../api/errors.ts';
import { useProjectId } from '../app/address.ts';
import { largestImage, type UploadedImage, uploadImage } from '../pages/mail/image.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { CheckField, SelectField, TextField } from '../ui/Field.tsx';
import { Form } from '../ui/Form.tsx';
import { Problem } from '../ui/States.tsx';
import { CropArea } from './CropArea.tsx';
import { ImageFileButton } from './ImagePicker.tsx';
import { prepared } from './image-file.ts';
import { RecentImages } from './RecentImages.tsx';
import { type Area, isAnimated, largestArea, type Size, shownWidth, wholeOf } from './rules/image-size.ts';

/** What an image block gets. */
export interface InsertedImage {
  src: string;
  alt: string;
  decorative: boolean;
  width: number | null;
}

interface ImageDialogProps {
  /** The file to insert; null asks for one, or for an image that was uploaded before. */
  file: File | null;
  /** Pixels of the place where the image is shown. */
  column: number;
  /** The texts of the block, where there is one. */
  alt?: string;
  decorative?: boolean;
  onInsert: (image: InsertedImage) => void;
  onClose: () => void;
}

const ratios: Record<string, number | null> = {
  Free: null,
  '1:1 (square)': 1,
  '4:3': 4 / 3,
  '3:2': 3 / 2,
  '16:9': 16 / 9,
  '3:1 (banner)': 3,
};

/** Inserts an image, cropped and in the size that it needs, with the text for readers who do not see it. */
export function ImageDialog({ file, onClose, ...rest }: ImageDialogProps) {
  const [chosen, setChosen] = useState<File | UploadedImage | null>(file);
  return (
    <Dialog title="Insert image" onClose={onClose}>
      {chosen ? (
        <ChosenImage {...rest} image={chosen} onBack={file ? undefined : () => setChosen(null)} onClose={onClose} />
      ) : (
        <>
          <div>
            <ImageFileButton onFile={setChosen} />
          </div>
          <RecentImages onChoose={setChosen} />
          <footer>
            <Button onClick={onClose}>Cancel</Button>
          </footer>
        </>
      )}
    </Dialog>
  );
}

function ChosenImage({
  image,
  column,
  alt: altBefore = '',
  decorative: decorativeBefore = false,
  onInsert,
  onBack,
  onClose,
}: Omit<ImageDialogProps, 'file'> & { image: File | UploadedImage; onBack: (() => void) | undefined }) {
  const [alt, setAlt] = useState(altBefore);
  const [decorative, setDecorative] = useState(decorativeBefore);
  const [isMissing, setMissing] = useState(false);
  const [size, setSize] = useState<Size | null>(null);
  const [ratio, setRatio] = useState('');
  const [area, setArea] = useState<Area | null>(null);
  const url = useAddressOf(image);
  const canCrop = useCanCrop(image);
  const project = useProjectId();
  const queries = useQueryClient();
  const insert = useMutation({
    mutationFn: async (): Promise<InsertedImage> => {
      const found = await stored(image, column, area, size);
      await queries.invalidateQueries({ queryKey: ['uploads', project] });
      return { ...found, alt: decorative ? '' : alt.trim(), decorative };
    },
    onSuccess: (inserted) => {
      onInsert(inserted);
      onClose();
    },
  });
  const chooseRatio = (name: string) => {
    setRatio(name);
    const wanted = ratios[name];
    setArea(size === null || name === '' ? null : wanted ? largestArea(size, wanted) : (area ?? wholeOf(size)));
  };
  return (
    <Form
      onSubmit={() => {
        const hasText = decorative || alt.trim() !== '';
        setMissing(!hasText);
        if (hasText) insert.mutate();
      }}
    >
      {area && size ? (
        <CropArea url={url} size={size} area={area} ratio={ratios[ratio] ?? null} onChange={setArea} />
      ) : url === '' ? null : (
        <img
          style={{ maxHeight: '18rem', maxWidth: '100%', marginInline: 'auto' }}
          src={url}
          alt="Preview"
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => setSize({ width, height })}
        />
      )}
      {canCrop ? (
        <SelectField label="Crop" value={ratio} onChange={(event) => chooseRatio(event.target.value)}>
          <option value="">Whole image</option>
          {Object.keys(ratios).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      ) : null}
      <Description
        alt={alt}
        decorative={decorative}
        isMissing={isMissing && alt.trim() === ''}
        onAlt={setAlt}
        onDecorative={setDecorative}
      />
      {insert.error ? <Problem error={insert.error} /> : null}
      <footer>
        {onBack ? <Button onClick={onBack}>Back</Button> : null}
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={insert.isPending}>
          Insert image
        </Button>
      </footer>
    </Form>
  );
}

/** Where the image is stored, with what is cropped of it, and how wide it is shown. A file is uploaded. */
async function stored(image: File | UploadedImage, column: number, area: Area | null, size: Size | null) {
  if (!(image instanceof File)) return { src: image.url, width: size && shownWidth(size.width, column) };
  const { file, width } = await prepared(image, column, area ?? undefined);
  if (file.size > largestImage) throw new Refusal('This image is larger than 10 MB. Choose a smaller one.');
  return { src: (await uploadImage(file)).url, width };
}

/** What the image shows, in words, or that it shows nothing which the text does not say. */
function Description({
  alt,
  decorative,
  isMissing,
  onAlt,
  onDecorative,
}: {
  alt: string;
  decorative: boolean;
  isMissing: boolean;
  onAlt: (alt: string) => void;
  onDecorative: (decorative: boolean) => void;
}) {
  return (
    <>
      {decorative ? null : (
        <TextField
          label="Alt text"
          hint="Read by screen readers and shown when images are blocked."
          placeholder="What the image shows"
          maxLength={500}
          value={alt}
          problem={isMissing ? 'Enter alt text, or mark the image as decorative.' : undefined}
          onChange={(event) => onAlt(event.target.value)}
        />
      )}
      <CheckField
        label="Decorative"
        hint="Adds nothing to the text: screen readers skip it."
        checked={decorative}
        onChange={(event) => onDecorative(event.target.checked)}
      />
    </>
  );
}

/** An address that shows the image: its own, or one of this page for a file, which is empty at first. */
function useAddressOf(image: File | UploadedImage): string {
  const [url, setUrl] = useState(image instanceof File ? '' : image.url);
  useEffect(() => {
    if (!(image instanceof File)) return undefined;
    const address = URL.createObjectURL(image);
    setUrl(address);
    return () => URL.revokeObjectURL(address);
  }, [image]);
  return url;
}

/** Whether the image can be cropped: what is uploaded already or moves stays as it is. */
function useCanCrop(image: File | UploadedImage): boolean {
  const [canCrop, setCanCrop] = useState(false);
  useEffect(() => {
    let isWanted = true;
    if (image instanceof File)
      isAnimated(image).then(
        (moves) => isWanted && setCanCrop(!moves),
        () => undefined,
      );
    return () => {
      isWanted = false;
    };
  }, [image]);
  return canCrop;
}
