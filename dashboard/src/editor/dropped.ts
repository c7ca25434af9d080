import type { Editor } from '@tiptap/core';
import type { Slice } from '@tiptap/pm/model';
import { NodeSelection } from '@tiptap/pm/state';
import type { EditorView } from '@tiptap/pm/view';
import { uploadImage } from '../pages/mail/image.ts';
import { toast } from '../ui/toasts.tsx';
import { placeBelow } from './catalog.ts';
import { isSmallEnough } from './ImagePicker.tsx';

/** Uploads the images among these files and inserts each once it is stored. Answers whether there were any. */
export function takeImages(files: FileList | undefined, insert: (url: string) => void): boolean {
  const images = [...(files ?? [])].filter(({ type }) => type.startsWith('image/'));
  for (const image of images.filter(isSmallEnough))
    uploadImage(image).then(
      ({ url }) => insert(url),
      (error: unknown) => toast(error instanceof Error ? error.message : 'The image was not uploaded.', 'bad'),
    );
  return images.length > 0;
}

/** Inserts an image below the text at this place, or below the selection. */
export function insertImage(editor: Editor, src: string, at?: number): void {
  editor
    .chain()
    .focus()
    .insertContentAt(placeBelow(editor.state.doc.resolve(at ?? editor.state.selection.to)), {
      type: 'image',
      attrs: { src },
    })
    .run();
}

/**
 * Moves the block that is dragged to the end where it is dropped below all others: what is nearest there may be the inside of columns.
 * Answers whether it was.
 */
export function dropLast(view: EditorView, y: number, slice: Slice): boolean {
  const { doc, selection, tr } = view.state;
  const last = doc.lastChild && view.nodeDOM(doc.content.size - doc.lastChild.nodeSize);
  if (!(last instanceof HTMLElement) || !(selection instanceof NodeSelection)) return false;
  if (y <= last.getBoundingClientRect().bottom) return false;
  tr.deleteSelection();
  const end = tr.doc.content.size;
  tr.insert(end, slice.content).setSelection(NodeSelection.create(tr.doc, end));
  view.dispatch(tr.scrollIntoView());
  return true;
}
