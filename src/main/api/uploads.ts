import { join } from 'node:path';
import { type ImageStore, localStore } from '@fernpost/image-store';
import type { Config } from '../../core/config/config.ts';

/** The place for uploaded images that the settings choose. */
export async function createImageStore(config: Config): Promise<ImageStore> {
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_ACCESS_KEY_SECRET: secretAccessKey, S3_PUBLIC_URL: publicUrl } = config;
  if (config.storageDriver === 'local')
    return localStore(config.UPLOAD_DIR ?? join(config.DATA_DIR, 'uploads'), config.API_URI);
  // Amazon's SDK is loaded only where it is used.
  const { s3Store } = await import('@fernpost/image-store/s3-store');
  return s3Store({
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    accessKeyId: accessKeyId ?? '',
    secretAccessKey: secretAccessKey ?? '',
    bucket: config.S3_BUCKET,
    publicUrl: publicUrl ?? '',
    forcePathStyle: config.S3_FORCE_PATH_STYLE,
  });
}
