import type { JSONContent } from '@tiptap/core';
import { type CSSProperties, createElement, Fragment, type ReactNode } from 'react';
import { type Shape, shapes } from './shapes.ts';

/** The blocks of an email as the editor draws them, with the positions that they have in it. */
export function Picture({ content }: { content: readonly JSONContent[] }) {
  return drawAll(content, 0);
}

/** How much room a node has in the positions of the editor: a text its length, what holds others one more on each side. */
function sizeOf(node: JSONContent): number {
  if (node.type === 'text') return node.text?.length ?? 0;
  return isLeaf(node) ? 1 : 2 + (node.content ?? []).reduce((sum, child) => sum + sizeOf(child), 0);
}

const shapesOfText: Record<string, Shape> = {
  bulletList: ['ul', {}, 0],
  orderedList: ['ol', {}, 0],
  listItem: ['li', {}, 0],
};
const tagsOfMarks: Record<string, string> = { bold: 'strong', italic: 'em', underline: 'u', strike: 's', code: 'code' };

function shapeOf({ type = '', attrs = {} }: JSONContent): Shape {
  return shapesOfText[type] ?? shapes[type]?.(attrs) ?? ['div', {}, 0];
}

function isLeaf(node: JSONContent): boolean {
  return node.type === 'hardBreak' || !shapeOf(node).includes(0);
}

function drawAll(nodes: readonly JSONContent[], start: number): ReactNode {
  let at = start;
  return nodes.map((node) => {
    const position = at;
    at += sizeOf(node);
    return <Fragment key={position}>{draw(node, position)}</Fragment>;
  });
}

function draw(node: JSONContent, at: number): ReactNode {
  if (node.type === 'text') return marked(node);
  if (node.type === 'hardBreak') return <br />;
  const shape = shapeOf(node);
  if (isLeaf(node)) return element(shape, null, { contentEditable: false, 'data-at': at });
  const inside = drawAll(node.content ?? [], at + 1);
  if (node.type !== 'paragraph' && node.type !== 'heading') return element(shape, inside, {});
  return element(shape, node.content?.length ? inside : <br data-filler="" />, { 'data-pos': at + 1 });
}

function marked({ text, marks = [] }: JSONContent): ReactNode {
  return [...marks].reverse().reduce<ReactNode>((inside, { type, attrs }) => {
    if (type === 'link') return <a href={attrs?.href}>{inside}</a>;
    return createElement(tagsOfMarks[type] ?? 'span', {}, inside);
  }, text);
}

function element([tag, attributes, ...inside]: Shape, content: ReactNode, more: Record<string, unknown>): ReactNode {
  const { class: className, style, ...rest } = attributes;
  return createElement(
    tag,
    { ...rest, ...more, className, style: typeof style === 'string' ? styleOf(style) : undefined },
    ...inside.map((part) => (part === 0 ? content : typeof part === 'string' ? part : element(part, null, {}))),
  );
}

// A style of one property, such as `text-align: center`.
function styleOf(style: string): CSSProperties {
  const [name = '', value = ''] = style.split(': ');
  return { [name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())]: value };
}
