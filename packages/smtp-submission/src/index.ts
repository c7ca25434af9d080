// Message submission: a server that knows the protocol, and a reader of what it gets.
export { type IncomingMessage, readMessage } from './message.ts';
export { SmtpReply } from './reply.ts';
export {
  type Credentials,
  type Submission,
  type SubmissionEvent,
  type SubmissionHandler,
  type SubmissionOptions,
  SubmissionServer,
} from './server.ts';
