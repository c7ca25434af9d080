import type { IncomingMessage } from 'node:http';
import { extname } from 'node:path';
import { inProject, reply, route } from '../../http/route.ts';
import { bareNotFound } from '../../lib/errors.ts';
import { typeOfExtension } from '../images/store.ts';
import {
  deleteImage,
  ImagePage,
  ImageUsage,
  imageUsage,
  ListImages,
  listImages,
  UploadedImage,
  uploadImage,
} from './service.ts';

/** Images for mail. */
export const uploadRoutes = [
  route.post('/uploads/image', {
    bareRefusals: [400, 413, 'default'],
    ...inProject('templates'),
    summary: 'Upload an image',
    operationId: 'uploadImage',
    bodyForm: {
      type: 'multipart/form-data',
      fields: {
        image: { type: 'string', format: 'binary', description: 'The image: JPEG, PNG, GIF or WebP, up to 10 MB.' },
      },
    },
    description:
      'Takes the part "image" of a multipart/form-data body: a JPEG, PNG, GIF or WebP of up to 10 MB. Its URL never changes.',
    bodyKind: 'stream',
    returns: 'The uploaded image, with the `url` to use in emails.',
    reply: UploadedImage,
    handle: ({ app, db, project, body, log }) =>
      uploadImage({ db, store: app.images, log }, project.id, body as unknown as IncomingMessage, app.clock()),
  }),
  route.get('/uploads', {
    ...inProject('templates'),
    summary: 'List uploaded images',
    operationId: 'listImages',
    query: ListImages,
    returns: 'The page of images, newest first.',
    reply: ImagePage,
    handle: ({ app, db, project, query }) => listImages(db, app.images, project.id, query),
  }),
  route.get('/uploads/:id/usage', {
    ...inProject('templates'),
    summary: 'Get the templates and campaigns that use an image',
    operationId: 'getImageUsage',
    ids: { id: 'image' },
    returns: 'The templates and campaigns whose body contains the image, newest first; up to 100 of each.',
    reply: ImageUsage,
    handle: ({ db, project, params }) => imageUsage(db, project.id, params.id),
  }),
  route.delete('/uploads/:id', {
    refusals: [503],
    ...inProject('templates'),
    summary: 'Delete an uploaded image',
    operationId: 'deleteImage',
    description: 'Its URL stops working at once, also in delivered emails. Caches may show the image for up to a year.',
    ids: { id: 'image' },
    status: 204,
    returns: 'The image is deleted.',
    handle: ({ app, db, project, params, log }) => deleteImage({ db, store: app.images, log }, project.id, params.id),
  }),
  route.get('/uploads/files/:projectId/:file', {
    bareRefusals: [404],
    pathTexts: { file: 'File name of the image.' },
    access: 'none',
    summary: 'Download an uploaded image',
    operationId: 'downloadImage',
    returns: 'The image itself.',
    textReply: 'image/*',
    async handle({ app, params }) {
      const { projectId, file } = params;
      const type = typeOfExtension(extname(file).slice(1));
      const found = type === null ? null : await app.images.open(`${projectId}/${file}`);
      if (type === null || found === null) throw bareNotFound('No such image');
      return reply(200, found.stream, {
        'Content-Type': type,
        'Content-Length': String(found.bytes),
        'Cache-Control': 'public, max-age=31536000, immutable',
        // Mail clients load it from anywhere, and nothing in it may run if it is opened by itself.
        'Cross-Origin-Resource-Policy': 'cross-origin',
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'X-Content-Type-Options': 'nosniff',
      });
    },
  }),
];
