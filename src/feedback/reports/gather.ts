import { activeTrace, untraced } from '../../lib/telemetry.ts';
import type { Database } from '../../store/sql.ts';
import { byIndexes } from '../../store/sql.ts';
import { applyReports, type Notified, type Report, togetherAs } from './notify.ts';

// A statement about as many mails takes some tens of milliseconds, which is how long the next ones wait.
const mostTogether = 200;

interface Waiting {
  report: Report;
  resolve(outcome: Notified): void;
  reject(error: unknown): void;
}

/**
 * Applies reports that arrive together by one statement. Providers send one report a request, and for each mail two or three; most are about mails
 * of the same few campaigns, whose counters each statement has to lock. Of each kind one statement runs at a time, and what arrives meanwhile goes
 * with the next, so that nobody waits for company and a burst of reports takes a handful of connections.
 */
export class ReportGathering {
  readonly #db: Database;
  /** What waits, by kind; a kind is here while one of its statements runs. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Applies a report; resolves after the commit, and rejects when Postgres does. */
  apply(given: Report): Promise<Notified> {
    const report = { ...given, trace: activeTrace() };
    const kind = togetherAs(report.notification);
    if (kind === null) return applyReports(this.#db, [report]).then(([outcome = 'unknown']) => outcome);
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(kind);
      const item = { report, resolve, reject };
      if (waiting !== undefined) return void waiting.push(item);
      this.#waiting.set(kind, [item]);
      void untraced(() => this.#work(kind));
    });
  }

  async #work(kind: string): Promise<void> {
    // One turn of the event loop collects what has arrived with the first.
    await new Promise((resolve) => setImmediate(resolve));
    for (let waiting = this.#waiting.get(kind) ?? []; waiting.length > 0; waiting = this.#waiting.get(kind) ?? []) {
      const { now, later } = ofDifferentMails(waiting);
      this.#waiting.set(kind, later);
      await this.#applyTogether(now);
    }
    this.#waiting.delete(kind);
  }

  async #applyTogether(items: readonly Waiting[]): Promise<void> {
    try {
      const reports = items.map(({ report }) => report);
      const outcomes =
        items.length === 1
          ? await applyReports(this.#db, reports)
          : await this.#db.transaction((tx) => applyReports(tx, reports), byIndexes);
      for (const [index, item] of items.entries()) item.resolve(outcomes[index] ?? 'unknown');
    } catch (error) {
      const [only] = items;
      if (items.length === 1 && only !== undefined) return only.reject(error);
      // One that Postgres refuses must not hold up the others.
      for (const item of items) await this.#applyTogether([item]);
    }
  }
}

/** Splits reports of one kind: the first of each mail, as many as go together, and the rest. */
function ofDifferentMails(waiting: readonly Waiting[]): { now: Waiting[]; later: Waiting[] } {
  const now = new Map<string, Waiting>();
  const later: Waiting[] = [];
  for (const item of waiting) {
    const { emailId } = item.report.mail;
    if (now.size < mostTogether && !now.has(emailId)) now.set(emailId, item);
    else later.push(item);
  }
  return { now: [...now.values()], later };
}
