export {
  decidingBytes,
  declaredType,
  detectedType,
  type ImageType,
  newImageKey,
  typeOfExtension,
} from './image-type.ts';
export { localStore } from './local-store.ts';
export { type ImageStore, StoreUnusable } from './store.ts';
