/** Never returns. */
export async function hangs(): Promise<void> {
  for (;;);
}

/** Returns at once. */
export async function returns(): Promise<string> {
  return 'done';
}
