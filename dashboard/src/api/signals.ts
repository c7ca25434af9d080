/** A value that components can follow with `useSyncExternalStore`. */
export class Signal<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  readonly get = (): Value => this.#value;

  readonly set = (value: Value): void => {
    if (value === this.#value) return;
    this.#value = value;
    for (const listener of this.#listeners) listener();
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** Whether the service answers. */
export const serviceReachable = new Signal(true);
/** Whether the session has ended while the page was open. */
export const signedOut = new Signal(false);

let waiting: { promise: Promise<void>; done: () => void } | null = null;

/** Resolves when somebody has signed in again; the shell shows the dialog meanwhile. */
export function untilSignedIn(): Promise<void> {
  if (waiting === null) {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting = { promise, done: resolve };
    signedOut.set(true);
  }
  return waiting.promise;
}

/** Lets every request go on that waits for a session. */
export function reportSignedIn(): void {
  signedOut.set(false);
  waiting?.done();
  waiting = null;
}

/** The service has answered. */
export function reportReachable(): void {
  serviceReachable.set(true);
}

/** Resolves as soon as the service answers; at once where it does. */
export function untilReachable(): Promise<void> {
  if (serviceReachable.get()) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = serviceReachable.subscribe(() => {
      if (!serviceReachable.get()) return;
      stop();
      resolve();
    });
  });
}

let isWatched = false;

/** The service did not answer: it is asked again every two seconds until it does. */
export function reportUnreachable(): void {
  serviceReachable.set(false);
  if (isWatched) return;
  isWatched = true;
  setTimeout(async () => {
    isWatched = false;
    const alive = await fetch('/health', { cache: 'no-store' }).then(
      (response) => response.ok,
      () => false,
    );
    if (alive) reportReachable();
    else reportUnreachable();
  }, 2_000);
}
