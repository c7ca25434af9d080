import type { Editor } from '@tiptap/core';
import type { Slice } from '@tiptap/pm/model';
import { NodeSelection } from '@tiptap/pm/state';
import type { EditorView } from '@tiptap/pm/view';
import { largestImage, uploadImage } from '../pages/mail/image.ts';
import { toast } from '../ui/toasts.tsx';
import { counted } from '../words/numbers.ts';
import { placeBelow } from './catalog.ts';
import type { InsertedImage } from './ImageDialog.tsx';
import { fileOfDataUrl, prepared } from './image-file.ts';
import { textWidth } from './rules/image-size.ts';
import { cleanPasted, type PastedNode } from './rules/pasted.ts';

/** The images among files that are dropped or pasted. */
export function imagesOf(files: FileList | undefined): File[] {
  return [...(files ?? [])].filter(({ type }) => type.startsWith('image/'));
}

/** The images on a clipboard without text: Word and Excel add a picture of the text that they copy. */
export function pastedImages(data: DataTransfer | null): File[] {
  const html = data?.getData('text/html') ?? '';
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  return body.textContent.trim() === '' ? imagesOf(data?.files) : [];
}

/**
 * The HTML that is pasted, with the blocks of an email only. Images in it are uploaded meanwhile; what is on a computer's own disk is
 * lost, which is said.
 */
export function cleanedHtml(editor: Editor, html: string): string {
  // What was copied in an editor of emails has its blocks already.
  if (html.includes('data-pm-slice')) return html;
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  const cleaned = cleanPasted(nodesOf(body), (dataUrl) => {
    const file = fileOfDataUrl(dataUrl);
    return file && uploadedLater(editor, file);
  });
  if (cleaned.lost > 0)
    toast(
      `${counted(cleaned.lost, 'image was', 'images were')} not pasted. Upload ${cleaned.lost === 1 ? 'it' : 'them'} as ${cleaned.lost === 1 ? 'a file' : 'files'}.`,
      'warn',
    );
  return cleaned.html;
}

function nodesOf(parent: Node): PastedNode[] {
  return [...parent.childNodes].map((node): PastedNode => {
    if (node instanceof Text) return { type: 'text', data: node.data };
    if (!(node instanceof Element)) return { type: 'comment', data: node.nodeValue ?? '' };
    const attribs = Object.fromEntries([...node.attributes].map(({ name, value }) => [name, value]));
    return { type: 'tag', name: node.tagName.toLowerCase(), attribs, children: nodesOf(node) };
  });
}

/** Uploads an image that was pasted in a text. Until then it has an address of this page, which is the answer. */
function uploadedLater(editor: Editor, file: File): string {
  const address = URL.createObjectURL(file);
  const change = (attributes: object | null) => {
    if (editor.isDestroyed) return;
    const { tr, doc } = editor.state;
    doc.descendants((node, pos) => {
      if (node.type.name !== 'image' || node.attrs.src !== address) return;
      const at = tr.mapping.map(pos);
      if (attributes) tr.setNodeMarkup(at, undefined, { ...node.attrs, ...attributes });
      else tr.delete(at, at + node.nodeSize);
    });
    if (tr.docChanged) editor.view.dispatch(tr.setMeta('addToHistory', false));
  };
  const upload = async () => {
    const { file: small, width } = await prepared(file, textWidth);
    if (small.size > largestImage) throw new Error('An image is larger than 10 MB and was not pasted.');
    const { url: src } = await uploadImage(small);
    change({ src, width });
  };
  upload()
    .catch((error: unknown) => {
      change(null);
      toast(error instanceof Error ? error.message : 'An image was not uploaded.', 'bad');
    })
    .finally(() => URL.revokeObjectURL(address));
  return address;
}

/** Pixels that an image may be wide at this place: the text's, or the column's. */
export function columnWidth({ state: { doc } }: Editor, at: number): number {
  const $at = doc.resolve(Math.min(at, doc.content.size));
  for (let depth = $at.depth; depth > 0; depth -= 1) {
    const { type, childCount, attrs } = $at.node(depth);
    if (type.name !== 'columns') continue;
    // The space between columns, and around those on a panel.
    const inner = attrs.panel ? textWidth - 40 : textWidth;
    return Math.floor(inner / childCount) - (childCount > 1 ? 16 : 0);
  }
  return textWidth;
}

/** Inserts an image below the text at this place, or below the selection. */
export function insertImage(editor: Editor, image: InsertedImage, at?: number): void {
  editor
    .chain()
    .focus()
    .insertContentAt(placeBelow(editor.state.doc.resolve(at ?? editor.state.selection.to)), {
      type: 'image',
      attrs: { ...image },
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
