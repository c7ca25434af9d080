import { urlOf } from './http.ts';

/** A message that the mail sandbox took. */
export interface SandboxMessage {
  id: string;
  /** When it was taken, as an ISO instant. */
  at: string;
  status: string;
  from: string;
  to: { email: string; name: string }[];
  subject: string;
  html: string;
  text: string;
  metadata: Record<string, string>;
  events: { type: string; recipient: string; at: string; link?: string }[];
}

/** The response to a link of a message; redirects are reported, not followed. */
export interface LinkAnswer {
  status: number;
  location: string | null;
  body: string;
}

/** Which messages to look for; `to` and `subject` match parts. */
export interface MessageFilter {
  to?: string;
  subject?: string;
  /** Only messages taken since then. */
  since?: Date;
}

/** The inbox of the mail sandbox, for end-to-end tests of an app. */
export class SandboxInbox {
  readonly #url: string;

  /** @param url where the sandbox is; `npm start` has it at the address that is the default */
  constructor(url = 'http://localhost:8025') {
    this.#url = url;
  }

  /**
   * The latest message that matches, as soon as there is one.
   * @throws when none arrives within `seconds`, which are at most 60; the reason of the signal when it aborts
   */
  async waitFor(
    { to, subject, since }: MessageFilter,
    seconds = 10,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<SandboxMessage> {
    const query = new URLSearchParams({ bodies: '1', limit: '1', wait: `${seconds}s` });
    if (to !== undefined) query.set('to', to);
    if (subject !== undefined) query.set('subject', subject);
    if (since !== undefined) query.set('since', since.toISOString());
    const { messages } = await this.#call<{ messages: SandboxMessage[] }>(
      'GET',
      `/api/messages?${query}`,
      undefined,
      signal,
    );
    const [latest] = messages;
    if (latest === undefined)
      throw new Error(`No message to ${to ?? 'anybody'} about "${subject ?? ''}" within ${seconds} seconds.`);
    return latest;
  }

  /** Clicks the first link whose address contains `part`. Links of the service are opened, others are only reported as clicked. */
  click({ id }: { id: string }, part = ''): Promise<{ link: string; answer: LinkAnswer | null }> {
    return this.#call('POST', `/api/messages/${id}/click`, { link: part });
  }

  /** Presses the unsubscribe button of a mail program (RFC 8058). */
  unsubscribe({ id }: { id: string }): Promise<{ link: string; answer: LinkAnswer }> {
    return this.#call('POST', `/api/messages/${id}/unsubscribe`, {});
  }

  /** Forgets all messages. */
  async clear(): Promise<void> {
    await this.#call('DELETE', '/api/messages');
  }

  async #call<Reply>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Reply> {
    const response = await fetch(urlOf(this.#url, path), {
      method,
      ...(signal === undefined ? {} : { signal }),
      ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Reply & { error?: string };
    if (!response.ok) throw new Error(`The mail sandbox responded with ${response.status}: ${answer.error ?? ''}`);
    return answer;
  }
}
