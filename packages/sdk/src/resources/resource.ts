import type { OperationClient } from '../client.ts';

/** The methods of one kind of resource. Each takes its ID, then its body or filters, then the options of the call. */
export abstract class Resource {
  protected readonly client: OperationClient;

  constructor(client: OperationClient) {
    this.client = client;
  }
}

/** What an operation wraps its value in. */
export const dataOf = <Data>({ data }: { data: Data }): Data => data;
