/** Events that the service records by itself, in words; every other event has the name that an application tracks it by. */
const ofService: Record<string, string> = {
  'email.sent': 'Email sent',
  'email.delivery': 'Email delivered',
  'email.open': 'Email opened',
  'email.click': 'Email clicked',
  'email.bounce': 'Email bounced',
  'email.complaint': 'Email reported as spam',
  'email.failed': 'Email failed',
  'email.received': 'Email received',
  'contact.subscribed': 'Contact subscribed',
  'contact.unsubscribed': 'Contact unsubscribed',
  'campaign.sent': 'Campaign sent',
  'campaign.paused': 'Campaign paused',
  'campaign.cancelled': 'Campaign canceled',
  'campaign.held': 'Campaign on hold',
  'workflow.finished': 'Workflow completed',
  'workflow.failed': 'Workflow failed',
  'import.finished': 'Import finished',
  'domain.verified': 'Domain verified',
  'domain.lost': 'Domain records missing',
};
const segmentMoves = { entry: 'Entered', exit: 'Left' };

/** The segment that an event says a contact has entered or left. */
export function segmentMove(event: string): { segment: string; move: keyof typeof segmentMoves } | null {
  const [, segment, move] = /^segment\.(.+)\.(entry|exit)$/s.exec(event) ?? [];
  return segment !== undefined && (move === 'entry' || move === 'exit') ? { segment, move } : null;
}

/** The name of an event for people: `Email delivered` for `email.delivery`. */
export function eventText(event: string): string {
  const moved = segmentMove(event);
  return moved ? `${segmentMoves[moved.move]} segment “${moved.segment}”` : (ofService[event] ?? event);
}

/** The name of a step for people: the service names a trigger after its event, `Trigger: email.click`. */
export function stepText(name: string): string {
  return name.replace(/^Trigger: (.+)/s, (_, event: string) => `Trigger: ${eventText(event)}`);
}
