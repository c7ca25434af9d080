import type { EmailDocument } from '@fernpost/email-document';
import type { Editor, JSONContent } from '@tiptap/core';

/** The blocks of an email. */
export type Content = EmailDocument['content'];

/** Does something with the editor: at once where it is there, else as soon as it is. */
export type Act = (work: (editor: Editor) => unknown) => void;

/** The blocks of the document that the selection touches. */
export function selectedBlocks({ state: { doc, selection } }: Editor): Content {
  const [first, end] = [selection.$from.index(0), selection.$to.indexAfter(0)];
  const nodes = Array.from({ length: Math.max(1, end - first) }, (_, index) => doc.maybeChild(first + index));
  return documented(nodes.flatMap((node) => (node ? [node.toJSON()] : [])));
}

/**
 * The editor's nodes hold what the schema of documents describes, except that texts may be empty, and that an image which is still
 * being uploaded has an address of this page, which nobody else can open.
 */
export function documented(nodes: JSONContent[]): Content {
  const whole = (node: JSONContent): JSONContent => {
    if (node.content) return { ...node, content: node.content.map(whole) };
    if (node.type === 'image' && /^blob:/.test(node.attrs?.src)) return { ...node, attrs: { ...node.attrs, src: '' } };
    return node.type === 'paragraph' || node.type === 'heading' ? { ...node, content: [] } : node;
  };
  return nodes.map(whole) as unknown as Content;
}
