import type { App } from '../core/http/context.ts';
import type { OutboxTicket } from '../core/outbox/enqueue.ts';

/** An answer, and what the outbox has to do about it after the commit. */
export interface Changed<Body> {
  body: Body;
  tickets: OutboxTicket[];
}

/** The answer, once the outbox has been told. */
export function dispatched<Body>({ outbox }: Pick<App, 'outbox'>, { body, tickets }: Changed<Body>): Body {
  outbox.dispatchSoon(...tickets);
  return body;
}
