import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The result of a load of requests. */
export interface LoadResult {
  requests: number;
  requestsPerSecond: number;
  medianMs: number;
  p99Ms: number;
  failures: number;
}

/** A load: how many connections ask for how long, for which path, with which kind of body. */
export interface LoadOrder {
  url: string;
  path: string;
  authorization: string;
  /** Of the bodies; JSON unless it is set. */
  contentType?: string;
  kind: 'track' | 'send' | 'reports';
  from: string;
  /** The bodies of `reports`: each is sent once, in this order, and then the load ends. */
  bodies?: readonly string[];
  connections: number;
  seconds: number;
}

/** Runs a load in a process of its own, so that making requests does not slow down answering them more than it must. */
export function runLoad(order: LoadOrder): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL('./load-child.ts', import.meta.url)), { stdio: 'inherit' });
    child.once('message', (result) => resolve(result as LoadResult));
    child.once('error', reject);
    child.once('exit', (code) => code !== 0 && reject(new Error(`the load generator ended with ${code}`)));
    child.send(order);
  });
}
