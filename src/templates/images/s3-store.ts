import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  HeadBucketCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import { type ImageStore, StoreUnusable } from './store.ts';

/** How to reach an S3-compatible store. */
export interface S3Settings {
  /** Null for Amazon S3 itself. */
  endpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  bucket: string;
  /** Public base of the URLs. */
  publicUrl: string;
  forcePathStyle: boolean;
}

const callMs = 30_000;
// A file is read whole to be sent, so only so many are in memory.
const atOnce = 4;

/** Images in a bucket, which serves them itself. */
export function s3Store(settings: S3Settings): ImageStore {
  const { bucket } = settings;
  const client = new S3Client({
    region: settings.region,
    ...(settings.endpoint === null ? {} : { endpoint: settings.endpoint }),
    credentials: { accessKeyId: settings.accessKeyId, secretAccessKey: settings.secretAccessKey },
    forcePathStyle: settings.forcePathStyle,
    // Stores that only speak the older protocol refuse checksums that they do not know.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
  });
  const limit = pLimit(atOnce);
  const within = () => ({ abortSignal: AbortSignal.timeout(callMs) });
  const problem = (error: unknown) =>
    `the bucket "${bucket}" for uploads could not be read or created: ${(error as Error).message}`;
  return {
    incoming: join(tmpdir(), 'fernpost-incoming'),
    put: (key, file, contentType) =>
      limit(async () => {
        const put = new PutObjectCommand({
          Bucket: bucket,
          Key: key,
          Body: await readFile(file),
          ContentType: contentType,
          CacheControl: 'public, max-age=31536000, immutable',
        });
        try {
          await client.send(put, within());
        } catch (error) {
          throw isAboutOne(error) ? error : new StoreUnusable('The store does not take files', { cause: error });
        }
      }),
    async remove(key) {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), within());
    },
    url: (key) => `${settings.publicUrl}/${key}`,
    open: async () => null,
    async prepare() {
      try {
        await client.send(new HeadBucketCommand({ Bucket: bucket }), within());
        return null;
      } catch (error) {
        if (statusOf(error) !== 404) return problem(error);
      }
      try {
        await client.send(new CreateBucketCommand({ Bucket: bucket }), within());
        await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: publicRead(bucket) }), within());
        return null;
      } catch (error) {
        return problem(error);
      }
    },
  };
}

// A refusal of this one request; anything else (unavailable, no such bucket, no permission) concerns all of them.
function isAboutOne(error: unknown): boolean {
  const status = statusOf(error);
  return status >= 400 && status < 500 && ![401, 403, 404, 408, 429].includes(status);
}

function statusOf(error: unknown): number {
  return error instanceof S3ServiceException ? (error.$metadata.httpStatusCode ?? 0) : 0;
}

function publicRead(bucket: string): string {
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: '*', Action: ['s3:GetObject'], Resource: [`arn:aws:s3:::${bucket}/*`] }],
  });
}
