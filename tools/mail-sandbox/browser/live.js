const patienceMs = 3_000;

/**
 * Follows the changes of the store while the page is visible: a hidden page holds no connection.
 *
 * @param {string} version the state that the page shows
 * @param {(isConnected: boolean) => void} onState
 * @param {() => void} onChange
 */
export function followChanges(version, onState, onChange) {
  let known = version;
  /** @type {EventSource | null} */
  let source = null;

  function open() {
    if (document.hidden || source) return;
    const opened = new EventSource(`/inbox/changes?since=${encodeURIComponent(known)}`);
    source = opened;
    opened.addEventListener('open', () => onState(true));
    opened.addEventListener('message', ({ data }) => {
      known = data;
      onChange();
    });
    opened.addEventListener('error', () => {
      onState(false);
      // Most failures are retried by the browser; those that are not end the source.
      if (opened.readyState !== EventSource.CLOSED || source !== opened) return;
      source = null;
      setTimeout(open, patienceMs);
    });
  }

  function close() {
    source?.close();
    source = null;
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  window.addEventListener('pagehide', close);
  window.addEventListener('pageshow', open);
  open();
}
