// docs/contract/platform.md#10-2: the provider writes these itself, and refuses or repeats them when they come from us.
const providerHeaders =
  /^(?:from|to|cc|bcc|subject|date|message-id|reply-to|sender|return-path|mime-version|content-.*)$/i;

// The same few names come with every message.
const known = new Map<string, boolean>();

/** Whether a header is ours to write, and not the provider's. */
export function isOurHeader(name: string): boolean {
  const answer = known.get(name) ?? !providerHeaders.test(name);
  if (known.size < 1000) known.set(name, answer);
  return answer;
}

/** A display name as it may stand in a header; empty for none. */
export function cleanName(name: string | null): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not reach a header
  return name?.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim() ?? '';
}
