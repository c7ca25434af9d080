import type { Payload, WorkflowInterceptors } from '@temporalio/workflow';
import { traceHeader } from '../temporal/commands.ts';

/**
 * Hands the trace context of a start or a signal on to the activities and children of an execution. It holds no span and reads no clock, and the
 * headers of commands are not compared when a history is replayed, so that a history is the same with and without tracing.
 */
export function interceptors(): WorkflowInterceptors {
  let trace: Payload | undefined;
  const withTrace = <Input extends { headers: Record<string, Payload> }>(input: Input): Input =>
    trace === undefined ? input : { ...input, headers: { ...input.headers, [traceHeader]: trace } };
  return {
    inbound: [
      {
        execute(input, next) {
          trace = input.headers[traceHeader];
          return next(input);
        },
        // The work after a signal is that of whoever sent it.
        handleSignal(input, next) {
          trace = input.headers[traceHeader] ?? trace;
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
        startChildWorkflowExecution: (input, next) => next(withTrace(input)),
      },
    ],
  };
}
