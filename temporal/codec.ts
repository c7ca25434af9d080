import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { keyContexts } from '@fernpost/earlier-name';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';

const encoding = 'binary/encrypted';
const ivBytes = 12;
const tagBytes = 16;

/**
 * Encrypts what Temporal stores of inputs, results, memos and summaries by AES-256-GCM, with a key derived from the
 * secret. What was stored in clear before can still be read, so the secret can be introduced at any time; what the
 * previous secret encrypted can be read as well.
 */
export function encryptingCodec(secret: string, previous: string | null = null): PayloadCodec {
  const keyOf = (text: string) => Buffer.from(hkdfSync('sha256', text, '', keyContexts.temporalPayloads, 32));
  const key = keyOf(secret);
  const keys = previous === null ? [key] : [key, keyOf(previous)];
  const Wire = proto.temporal.api.common.v1.Payload;

  const seal = (payload: Payload): Payload => {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', key, iv);
    const text = [cipher.update(Wire.encode(payload).finish()), cipher.final()];
    return {
      metadata: { encoding: Buffer.from(encoding) },
      data: Buffer.concat([iv, ...text, cipher.getAuthTag()]),
    };
  };

  const open = (payload: Payload): Payload => {
    if (Buffer.from(payload.metadata?.encoding ?? []).toString() !== encoding) return payload;
    const data = Buffer.from(payload.data ?? []);
    let cause: unknown;
    for (const candidate of keys) {
      try {
        const decipher = createDecipheriv('aes-256-gcm', candidate, data.subarray(0, ivBytes));
        decipher.setAuthTag(data.subarray(-tagBytes));
        const text = decipher.update(data.subarray(ivBytes, -tagBytes));
        return Wire.decode(Buffer.concat([text, decipher.final()]));
      } catch (error) {
        cause = error;
      }
    }
    throw new Error('A payload cannot be decrypted: TEMPORAL_CODEC_KEY is not the one it was encrypted with', {
      cause,
    });
  };

  return {
    encode: async (payloads) => payloads.map(seal),
    decode: async (payloads) => payloads.map(open),
  };
}
