import * as v from 'valibot';

const count = (max: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(max));
const common = {
  /** How many calls are hit before the fault is used up. */
  times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000_000)), 1),
  /** The exact path hit, for example `/email/batch`; by default both sending paths are. */
  path: v.optional(v.pipe(v.string(), v.startsWith('/'))),
};

/**
 * A disturbance of Postmark's API, for failure drills. `POST /api/faults` adds one, `GET /api/faults` lists those that
 * are not used up, `DELETE /api/faults` removes all. A call is hit by the oldest fault that matches its path, and each
 * hit uses up one of its `times` (default 1).
 *
 * - `{ "kind": "status", "status": 503 }` answers with this status and stores nothing. Optional: `errorCode` and
 *   `message` for the body, `retryAfter` in seconds for the header.
 * - `{ "kind": "drop-answer" }` stores the messages, then cuts the connection without an answer: accepted, but the
 *   caller cannot know.
 * - `{ "kind": "hang" }` stores nothing and stays silent for `ms` (default 90,000), then cuts the connection.
 * - `{ "kind": "delay", "ms": 150 }` stores the messages and answers normally, but only after `ms`.
 * - `{ "kind": "reject", "errorCode": 412 }` answers normally with this ErrorCode for each message and stores nothing.
 *   Optional: `message`.
 */
export const FaultSchema = v.variant('kind', [
  v.object({
    kind: v.literal('status'),
    status: v.pipe(v.number(), v.integer(), v.minValue(400), v.maxValue(599)),
    errorCode: v.optional(count(100_000)),
    message: v.optional(v.string()),
    retryAfter: v.optional(count(86_400)),
    ...common,
  }),
  v.object({ kind: v.literal('drop-answer'), ...common }),
  v.object({ kind: v.literal('hang'), ms: v.optional(count(3_600_000), 90_000), ...common }),
  v.object({ kind: v.literal('delay'), ms: count(3_600_000), ...common }),
  v.object({
    kind: v.literal('reject'),
    errorCode: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000)),
    message: v.optional(v.string()),
    ...common,
  }),
]);

export type Fault = v.InferOutput<typeof FaultSchema>;

const sendingPaths = ['/email', '/email/batch'];

/** The faults that still wait for a call, in memory only. */
export class Faults {
  private faults: Fault[] = [];

  add(fault: Fault): void {
    this.faults.push({ ...fault });
  }

  list(): readonly Fault[] {
    return this.faults;
  }

  clear(): void {
    this.faults = [];
  }

  /** Uses up one hit of the first fault that matches the path, or answers null. */
  take(path: string): Fault | null {
    const fault = this.faults.find((one) => (one.path === undefined ? sendingPaths.includes(path) : one.path === path));
    if (!fault) return null;
    fault.times -= 1;
    if (fault.times === 0) this.faults = this.faults.filter((one) => one !== fault);
    return fault;
  }
}
