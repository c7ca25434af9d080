import type { EntityName } from '@mikro-orm/core';
import {
  Contact,
  ContactChange,
  ContactField,
  ContactFieldValue,
  ContactHistory,
  ContactTotal,
  FullCatalogue,
} from '../audience/contacts/entity.ts';
import { ActivityCount, Event, EventCount, EventCountsState } from '../audience/events/entity.ts';
import { ImportFilePart, Job, JobError, TrashedContact } from '../audience/jobs/entity.ts';
import { ContactLoss, Segment, SegmentMembership } from '../audience/segments/entity.ts';
import { SuppressionRule } from '../audience/suppressions/entity.ts';
import {
  Automation,
  AutomationArrival,
  AutomationEntry,
  AutomationRefusal,
  AutomationStep,
  AutomationSwitch,
  AutomationTransition,
  AutomationVersion,
} from '../automations/entity.ts';
import { AutomationMigration } from '../automations/migrating/entity.ts';
import { AutomationRun, AutomationStepRun } from '../automations/runtime/entity.ts';
import { SavedBlock } from '../content/blocks/entity.ts';
import { Brand } from '../content/brand/entity.ts';
import { ContentVersion, Template } from '../content/templates/entity.ts';
import { Upload } from '../content/uploads/entity.ts';
import { InstalledFunction } from '../core/database/entity.ts';
import { OutboxMessage, TemporalStore } from '../core/outbox/entity.ts';
import { McpPlan } from '../insight/mcp/entity.ts';
import { WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookReplay } from '../insight/webhooks/entity.ts';
import { IdempotencyKey, RateWindow } from '../platform/access/entity.ts';
import { AccountToken, AttemptWindow, EndedSession, User } from '../platform/accounts/entity.ts';
import { AuditEntry, AuditHead } from '../platform/audit/entity.ts';
import { UnreportedMail, UsageCounter, UsageNotice, UsageReport } from '../platform/billing/entity.ts';
import { Domain, DomainRemoval } from '../platform/domains/entity.ts';
import { ApiKey, Membership, Project } from '../platform/projects/entity.ts';
import { SystemMail } from '../platform/system-mail/entity.ts';
import { ProjectWipe } from '../platform/wipes/entity.ts';
import { Campaign, CampaignClaim, CampaignSend } from '../sending/campaigns/entity.ts';
import { ProviderHold, QueuedEmail, SendBucket } from '../sending/engine/entity.ts';
import {
  Email,
  EmailResend,
  EmailTag,
  MailCount,
  MailCountChange,
  RetentionCursor,
  WebhookReceipt,
} from '../sending/ledger/entity.ts';
import { ProviderHandover } from '../sending/providers/entity.ts';
import { RecipientVisit } from '../sending/recipients/entity.ts';

/**
 * Every table of the service, described: keys, indexes, checks and relations too. Relations are `mapToPk`: a row carries the id of the
 * other, and nothing is loaded for it. Tables that are only appended to have no key in the database; the columns that the ORM is
 * told instead identify nothing, and such rows are never written through it.
 */
export const entities: EntityName[] = [
  InstalledFunction,
  OutboxMessage,
  TemporalStore,
  SystemMail,
  User,
  AccountToken,
  EndedSession,
  AttemptWindow,
  Project,
  ApiKey,
  AuditEntry,
  AuditHead,
  Membership,
  IdempotencyKey,
  RateWindow,
  UsageCounter,
  UsageNotice,
  UsageReport,
  UnreportedMail,
  Domain,
  DomainRemoval,
  ProjectWipe,
  Contact,
  ContactChange,
  ContactHistory,
  ContactTotal,
  ContactField,
  ContactFieldValue,
  FullCatalogue,
  Event,
  EventCount,
  EventCountsState,
  ActivityCount,
  Segment,
  SegmentMembership,
  ContactLoss,
  SuppressionRule,
  Job,
  JobError,
  TrashedContact,
  ImportFilePart,
  Upload,
  Brand,
  SavedBlock,
  Template,
  ContentVersion,
  ProviderHandover,
  Email,
  EmailResend,
  EmailTag,
  MailCount,
  MailCountChange,
  RetentionCursor,
  WebhookReceipt,
  QueuedEmail,
  SendBucket,
  ProviderHold,
  Campaign,
  CampaignSend,
  CampaignClaim,
  RecipientVisit,
  Automation,
  AutomationStep,
  AutomationTransition,
  AutomationVersion,
  AutomationEntry,
  AutomationRefusal,
  AutomationSwitch,
  AutomationArrival,
  AutomationRun,
  AutomationStepRun,
  AutomationMigration,
  WebhookEndpoint,
  WebhookDelivery,
  WebhookAttempt,
  WebhookReplay,
  McpPlan,
];
