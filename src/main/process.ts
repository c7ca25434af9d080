/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    let told = false;
    const stop = () => {
      if (told) process.exit(1);
      told = true;
      resolve();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}
