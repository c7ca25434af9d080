import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An object as a bucket of the test's store keeps it. */
interface StoredObject {
  bytes: Buffer;
  headers: Record<string, string>;
}

/** A store that speaks the calls of S3 which uploads use, in path style. */
export interface S3Server extends AsyncDisposable {
  url: string;
  /** Objects by `/bucket/key`. */
  objects: Map<string, StoredObject>;
  buckets: Set<string>;
  policies: Map<string, string>;
  /** Answers every call with this status while it is set. */
  trouble: number | null;
}

/** Starts a store without buckets that knows one access key. */
export async function startS3Server(accessKeyId: string): Promise<S3Server> {
  const store = {
    url: '',
    objects: new Map<string, StoredObject>(),
    buckets: new Set<string>(),
    policies: new Map<string, string>(),
    trouble: null as number | null,
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const refuse = (status: number, code: string) => {
      response.writeHead(status, { 'Content-Type': 'application/xml' });
      response.end(request.method === 'HEAD' ? '' : `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
    };
    const url = new URL(request.url ?? '/', 'http://store');
    const [, bucket = '', ...key] = url.pathname.split('/');
    const signed = request.headers.authorization ?? '';
    const digest = createHash('sha256').update(bytes).digest('hex');
    if (store.trouble !== null) return refuse(store.trouble, 'Trouble');
    if (!signed.startsWith(`AWS4-HMAC-SHA256 Credential=${accessKeyId}/`)) return refuse(403, 'InvalidAccessKeyId');
    if (bytes.length > 0 && request.headers['x-amz-content-sha256'] !== digest)
      return refuse(400, 'XAmzContentSHA256Mismatch');
    if (request.method === 'PUT' && key.join('') === '') {
      if (url.searchParams.has('policy')) store.policies.set(bucket, bytes.toString('utf8'));
      else store.buckets.add(bucket);
      return response.end();
    }
    if (!store.buckets.has(bucket)) return refuse(404, 'NoSuchBucket');
    if (request.method === 'PUT')
      store.objects.set(url.pathname, { bytes, headers: request.headers as Record<string, string> });
    if (request.method === 'DELETE') {
      store.objects.delete(url.pathname);
      response.statusCode = 204;
    }
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  store.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(store, {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
