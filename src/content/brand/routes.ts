import { Brand } from '@posthorn/email-document';
import { route } from '../../core/http/route.ts';
import { nameSchemas } from '../../core/lib/named-schemas.ts';
import { getBrand, putBrand } from './service.ts';

/** The brand kit of a project. */
export const brandRoutes = [
  route({
    method: 'GET',
    path: '/brand',
    scope: 'templates',
    access: 'dashboard',
    summary: 'Get the brand kit',
    reply: Brand,
    handle: ({ db, project }) => getBrand(db, project.id),
  }),
  route({
    method: 'PUT',
    path: '/brand',
    scope: 'templates',
    access: 'dashboard',
    summary: 'Replace the brand kit',
    description:
      'Logo, colors, font, footer and postal address of emails written as blocks. Templates and unsent campaigns with a `document` are compiled again at once. What is absent is reset.',
    body: Brand,
    example: { postalAddress: 'Acme Inc., 1 Main Street, Springfield' } as never,
    reply: Brand,
    handle: ({ db, project, body }) => putBrand(db, project.id, body),
  }),
];

nameSchemas({ BrandKit: Brand });
