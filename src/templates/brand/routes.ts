import { Brand } from '@fernpost/email-document';
import { inProject, reply, route } from '../../http/route.ts';
import { nameSchemas } from '../../lib/validation/fields.ts';
import { getBrand, iconsUrlOf, putBrand, socialIcon } from './service.ts';

/** The brand kit of a project. */
export const brandRoutes = [
  route.get('/brand', {
    ...inProject('templates'),
    summary: 'Get the brand kit',
    returns: 'The brand kit of the project, or the default one while none is set.',
    reply: Brand,
    handle: ({ db, project }) => getBrand(db, project.id),
  }),
  route.put('/brand', {
    ...inProject('templates'),
    summary: 'Replace the brand kit',
    description:
      'Logo, colors, font, footer and postal address of emails written as blocks. Templates and unsent campaigns with a `document` are compiled again at once. What is absent is reset.',
    body: Brand,
    example: { postalAddress: 'Acme Inc., 1 Main Street, Springfield' } as never,
    returns: 'The brand kit as it is now; what was left out has its default.',
    reply: Brand,
    handle: ({ app, db, project, body }) => putBrand(db, iconsUrlOf(app.config), project.id, body),
  }),
  route.get('/brand/icons/:file', {
    bareRefusals: [404],
    pathTexts: { file: 'File name of the icon.' },
    access: 'none',
    summary: 'Download the icon of a social network',
    operationId: 'downloadSocialIcon',
    description: 'What emails with social links show, such as `linkedin.png`.',
    returns: 'The icon, as PNG.',
    textReply: 'image/*',
    handle: async ({ params }) =>
      reply(200, await socialIcon(params.file), {
        'Content-Type': 'image/png',
        'Cache-Control': 'public, max-age=604800',
        'Cross-Origin-Resource-Policy': 'cross-origin',
        'X-Content-Type-Options': 'nosniff',
      }),
  }),
];

nameSchemas({ BrandKit: Brand });
