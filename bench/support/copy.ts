import type { Client, Connection } from 'pg';

/** A query of `pg` that speaks to the connection itself. */
interface CopyIn {
  submit(connection: Connection): void;
  handleCopyInResponse(connection: Connection): void;
  handleCommandComplete(): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(bytes: Buffer): void;
  endCopyFrom(): void;
}

/** Sends bytes to Postgres by `COPY … FROM STDIN`, as nothing in the service does: it is the floor of imports. */
export function copyFrom(client: Client, statement: string, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: Error | null = null;
    const copy: CopyIn = {
      submit: (connection) => (connection as unknown as CopyConnection).query(statement),
      handleCopyInResponse(connection) {
        const wire = connection as unknown as CopyConnection;
        for (let at = 0; at < bytes.length; at += 65_536) wire.sendCopyFromChunk(bytes.subarray(at, at + 65_536));
        wire.endCopyFrom();
      },
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => (failure === null ? resolve() : reject(failure)),
      handleError(error) {
        failure = error;
        reject(error);
      },
    };
    client.query(copy as never);
  });
}
