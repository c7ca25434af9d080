/** Something typed, pasted or pressed. */
type EarlyInput =
  | { text: string }
  | { pasted: { text: string; html: string } }
  | { key: Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'> };

/** Input that was made on the placeholder of an editor before the editor had loaded. Positions are those of the editor. */
export interface Early {
  hasFocus: boolean;
  selection: { anchor: number; head: number } | null;
  /** Where a block begins that was pressed and has no text of its own. */
  pressed: number | null;
  inputs: EarlyInput[];
}

export const nothingYet = (): Early => ({ hasFocus: false, selection: null, pressed: null, inputs: [] });

/** An editor that takes over. */
export interface Successor {
  dom: HTMLElement;
  focus(): void;
  select(anchor: number, head: number): void;
  selectBlock?(position: number): void;
  insert(text: string): void;
  paste(pasted: { text: string; html: string }): void;
  /** Deletes the character before (-1) or behind (1) the cursor. */
  erase(direction: -1 | 1): void;
}

/** Does in an editor what was done in its picture. */
export function takeOver(successor: Successor, early: Early): void {
  const { selection, pressed } = early;
  if (pressed !== null && successor.selectBlock) successor.selectBlock(pressed);
  else if (selection) successor.select(selection.anchor, selection.head);
  if (early.hasFocus) successor.focus();
  for (const input of early.inputs.splice(0)) {
    if ('text' in input) successor.insert(input.text);
    else if ('pasted' in input) successor.paste(input.pasted);
    else pressKey(successor, input.key);
  }
}

// A key that an editor leaves to the browser does nothing when it is pressed by a script.
function pressKey({ dom, erase }: Successor, key: KeyboardEventInit): void {
  const event = new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true });
  const isLeft = dom.dispatchEvent(event);
  if (isLeft && key.key === 'Backspace') erase(-1);
  if (isLeft && key.key === 'Delete') erase(1);
}

/**
 * The position of a place on the page in the text of an editor. Elements with text of their own say by `data-pos` where it
 * begins; what cannot be edited within them counts as one character,
 * and what has `data-filler` as none.
 */
export function positionOf(root: HTMLElement, node: Node, offset: number): number {
  const element = node instanceof Element ? node : node.parentElement;
  const line = element?.closest<HTMLElement>('[data-pos]');
  if (!line || !root.contains(line)) return offset === 0 ? 0 : Number.MAX_SAFE_INTEGER;
  const before = document.createRange();
  before.setStart(line, 0);
  before.setEnd(node, offset);
  return Number(line.dataset.pos) + lengthOf(before.cloneContents());
}

function lengthOf(node: Node): number {
  if (node instanceof Text) return node.data.length;
  if (node instanceof HTMLElement && node.dataset.filler !== undefined) return 0;
  if (node instanceof HTMLElement && (node.tagName === 'BR' || node.getAttribute('contenteditable') === 'false'))
    return 1;
  return [...node.childNodes].reduce((sum, child) => sum + lengthOf(child), 0);
}
