/** How steps are added and connected, and when edits take effect. */
export function EditingHints({ publishes }: { publishes: boolean }) {
  return (
    <>
      <p>
        Drag a step onto the canvas, or use + on a path. Select a step to edit it. Drag from the lower edge of a step to
        connect it.
      </p>
      <p>
        Changes stay in this browser until you {publishes ? 'publish' : 'save'} them. Nothing changes for contacts
        before that.
      </p>
    </>
  );
}

/** The keys of the canvas and what each does. */
export function KeyList() {
  return (
    <dl className="facts mt-2">
      <dt>Tab</dt>
      <dd>Go to a step or path</dd>
      <dt>Arrow keys</dt>
      <dd>Go to the next step</dd>
      <dt>Alt + arrow</dt>
      <dd>Move the step</dd>
      <dt>Enter</dt>
      <dd>Open</dd>
      <dt>Shift + arrow, Shift + click</dt>
      <dd>Select more steps</dd>
      <dt>Ctrl + C, X, V</dt>
      <dd>Copy, cut, paste</dd>
      <dt>Ctrl + D</dt>
      <dd>Duplicate</dd>
      <dt>Ctrl + A</dt>
      <dd>Select all steps</dd>
      <dt>Delete</dt>
      <dd>Delete</dd>
      <dt>Escape</dt>
      <dd>Clear the selection</dd>
      <dt>/ or Ctrl + F</dt>
      <dd>Find a step</dd>
      <dt>Ctrl + Z, Ctrl + Y</dt>
      <dd>Undo, redo</dd>
    </dl>
  );
}
