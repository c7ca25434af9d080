import type { EntitySchema } from '@mikro-orm/core';

/** Every entity the ORM knows. */
export const entities: EntitySchema[] = [];
