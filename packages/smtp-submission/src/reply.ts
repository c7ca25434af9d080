/** A reply that refuses: code and enhanced status code (RFC 5321, 4.2; RFC 3463), and a sentence. */
export class SmtpReply extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, enhanced: string, sentence: string) {
    // A reply is one line of at most 512 bytes (RFC 5321, 4.5.3.1.5).
    super(`${enhanced} ${sentence.slice(0, 400)}`);
    this.responseCode = responseCode;
  }

  /** The whole reply, code first. */
  get line(): string {
    return `${this.responseCode} ${this.message}`;
  }
}
