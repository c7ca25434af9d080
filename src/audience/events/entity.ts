import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';
import { ofProject } from '../../platform/projects/index.ts';

const p = defineEntity.properties;

/**
 * Something that happened to a contact or to a project. `mailAt` is the instant of the mail it reports, `limitedBy` the
 * key whose limits hold for what the event starts. No foreign keys:
 * their checks cost more than the row; triggers delete what belongs to deleted contacts.
 */
export const Event = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    id: p.uuid().primary(),
    projectId: p.uuid(),
    contactId: p.uuid().nullable(),
    emailId: p.uuid().nullable(),
    name: p.text(),
    data: p.json<unknown>().nullable(),
    createdAt: baseColumns.createdAt,
    mailAt: p.datetime(3).nullable(),
    limitedBy: p.uuid().nullable(),
  },
  indexes: [
    { name: 'events_contact', properties: ['contactId', 'createdAt'] },
    {
      name: 'events_contact_mail',
      properties: ['contactId', 'name', 'mailAt'],
      where: "(name <> 'email.sent') AND (mail_at IS NOT NULL)",
    },
    {
      name: 'events_created',
      expression:
        "create index events_created on events using brin (created_at) with (pages_per_range='32', autosummarize='true')",
    },
    {
      name: 'events_mail',
      properties: ['projectId', 'name', 'mailAt'],
      where: "(name <> 'email.sent') AND (mail_at IS NOT NULL)",
    },
    { name: 'events_name', properties: ['projectId', 'name', 'createdAt', 'contactId'] },
    { name: 'events_recent', properties: ['projectId', 'createdAt', 'id'] },
    {
      name: 'events_sent',
      properties: ['projectId', 'mailAt'],
      where: "(name = 'email.sent') AND (mail_at IS NOT NULL)",
    },
  ],
});

/**
 * How many events of a name a day (UTC) had, up to `counted_through`. Rows of the same day add up, so there is no key.
 */
export const EventCount = defineEntity({
  name: 'EventCount',
  tableName: 'event_counts',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    name: p.text().primary(),
    day: p.date().primary(),
    events: p.integer().primary(),
  },
  indexes: [
    { name: 'event_counts_day', properties: ['projectId', 'day', 'name'], include: ['events'] },
    { name: 'event_counts_taken_off', properties: ['projectId'], where: 'events < 0' },
  ],
});

/** How far events are counted, in one row. */
export const EventCountsState = defineEntity({
  name: 'EventCountsState',
  tableName: 'event_counts_state',
  properties: {
    countedThrough: p.datetime(3).primary(),
  },
});

/**
 * How many items of a kind an hour had, up to `counted_through`. Rows of the same hour add up, so there is no key.
 */
export const ActivityCount = defineEntity({
  name: 'ActivityCount',
  tableName: 'activity_counts',
  properties: {
    projectId: ofProject().primary().updateRule('no action'),
    kind: p.text().primary(),
    hour: p.datetime(3).primary(),
    items: p.integer().primary(),
  },
  indexes: [
    { name: 'activity_counts_hour', properties: ['projectId', 'hour', 'kind'], include: ['items'] },
    { name: 'activity_counts_taken_off', properties: ['projectId'], where: 'items < 0' },
  ],
});
