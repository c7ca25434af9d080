const signs = ['pointermove', 'pointerdown', 'touchstart', 'wheel', 'keydown', 'dragenter'] as const;

/**
 * Is fulfilled once somebody does anything on the page: moves the pointer, touches, scrolls or presses a key. Until then they
 * look at what was opened, and what only serves to change it need not be loaded.
 */
export const firstUse = new Promise<void>((resolve) => {
  const noticed = (event: Event) => {
    // Browsers say where a pointer that rests is, whenever the page below it is drawn anew.
    if (event instanceof PointerEvent && event.type === 'pointermove' && !(event.movementX || event.movementY)) return;
    for (const sign of signs) window.removeEventListener(sign, noticed, true);
    resolve();
  };
  for (const sign of signs) window.addEventListener(sign, noticed, { capture: true, passive: true });
});
