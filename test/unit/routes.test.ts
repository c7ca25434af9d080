import { expect, expectTypeOf, test } from 'vitest';
import { type PathParams, route } from '../../src/http/route.ts';

test('the parameters of a route are those its path names, as strings that are there', () => {
  expectTypeOf<PathParams<'/contacts/:id'>>().toEqualTypeOf<Readonly<Record<'id', string>>>();
  expectTypeOf<PathParams<'/projects/:id/members/:userId'>>().toEqualTypeOf<
    Readonly<Record<'id' | 'userId', string>>
  >();
  expectTypeOf<PathParams<'/campaigns/:id/cancel' | '/campaigns/:id/pause'>>().toEqualTypeOf<
    Readonly<Record<'id', string>>
  >();
  expectTypeOf<keyof PathParams<'/contacts'>>().toBeNever();
  expectTypeOf<PathParams<string>>().toEqualTypeOf<Record<string, string>>();

  const { path } = route({
    method: 'GET',
    path: '/contacts/:contactId/mail',
    access: 'secret',
    summary: 'Only its types count',
    returns: 'Nothing.',
    ids: { contactId: 'Contact' },
    handle({ params }) {
      expectTypeOf(params.contactId).toBeString();
      // @ts-expect-error: the path names no such parameter
      return params.id;
    },
  });
  expect(path).toBe('/contacts/:contactId/mail');

  const rest = { method: 'GET', access: 'secret', summary: '', returns: '', handle: () => {} } as const;
  // @ts-expect-error: only what the path names can be checked for being a UUID
  route({ ...rest, path: '/tags/:tag', ids: { id: 'Contact' } });
});
