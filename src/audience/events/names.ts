/**
 * Whether only the service itself may record events of this name (contract page 1, 5.3): everything below `email.`,
 * the two subscription changes, and the entries and exits of segments. Letter case counts.
 */
export function isReservedEvent(name: string): boolean {
  return (
    name.startsWith('email.') ||
    name === 'contact.subscribed' ||
    name === 'contact.unsubscribed' ||
    (name.startsWith('segment.') && (name.endsWith('.entry') || name.endsWith('.exit')))
  );
}
