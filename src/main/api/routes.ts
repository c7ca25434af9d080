import { accountRoutes, authRoutes } from '../../accounts/account-routes.ts';
import { oauthRoutes, signUpRoutes } from '../../accounts/oauth-routes.ts';
import { verificationRoutes } from '../../accounts/verification/routes.ts';
import { automationGraphRoutes } from '../../automations/graph/routes.ts';
import { automationMigrationRoutes } from '../../automations/migrating/routes.ts';
import { automationPublishingRoutes } from '../../automations/publishing/routes.ts';
import { automationRoutes } from '../../automations/routes.ts';
import { automationRunRoutes } from '../../automations/runs/routes.ts';
import { billingRoutes } from '../../billing/routes.ts';
import { campaignAudienceRoutes } from '../../campaigns/audience/routes.ts';
import { campaignRecipientRoutes } from '../../campaigns/results/routes.ts';
import { campaignRoutes } from '../../campaigns/routes.ts';
import { eventRoutes } from '../../contacts/events/routes.ts';
import { contactFieldRoutes } from '../../contacts/fields-routes.ts';
import { contactRoutes } from '../../contacts/routes.ts';
import { suppressionRoutes } from '../../contacts/suppressions/routes.ts';
import { domainRoutes } from '../../domains/routes.ts';
import { publicContactRoutes, recipientRoutes } from '../../feedback/recipients/routes.ts';
import { webhookRoutes } from '../../feedback/reports/routes.ts';
import { securityRoutes } from '../../feedback/reputation/routes.ts';
import type { Route } from '../../http/route.ts';
import { jobRoutes } from '../../imports/routes.ts';
import { activityRoutes } from '../../insight/activity/routes.ts';
import { analyticsRoutes } from '../../insight/analytics/routes.ts';
import { erasureRoutes } from '../../insight/erasures/routes.ts';
import { explainRoutes } from '../../insight/explain/routes.ts';
import { mcpRoutes } from '../../insight/mcp/routes.ts';
import { setupRoutes } from '../../insight/setup/routes.ts';
import { webhookEndpointRoutes } from '../../insight/webhooks/routes.ts';
import { projectWipeRoutes } from '../../insight/wipes/routes.ts';
import { campaignReviewRoutes } from '../../launches/review/routes.ts';
import { campaignRevisionRoutes } from '../../launches/revisions/routes.ts';
import { launchRoutes } from '../../launches/routes.ts';
import { emailRoutes, smtpRoutes, suppressedMailRoutes } from '../../mail/emails/routes.ts';
import { transactionalRoutes } from '../../mail/transactional/routes.ts';
import { apiKeyRoutes, memberRoutes } from '../../projects/api-key-routes.ts';
import { auditRoutes } from '../../projects/audit/routes.ts';
import { invitationRoutes } from '../../projects/invitations/routes.ts';
import { projectRoutes } from '../../projects/routes.ts';
import { contactListRoutes } from '../../segments/lists/routes.ts';
import { segmentRoutes } from '../../segments/routes.ts';
import { blockRoutes } from '../../templates/blocks/routes.ts';
import { brandRoutes } from '../../templates/brand/routes.ts';
import { templateRoutes } from '../../templates/routes.ts';
import { uploadRoutes } from '../../templates/uploads/routes.ts';
import { configRoutes } from './config-route.ts';

/** Every route of the service but those about the service itself. */
export const routes: readonly Route[] = [
  ...transactionalRoutes,
  ...eventRoutes,
  ...verificationRoutes,
  ...contactListRoutes,
  ...contactRoutes,
  ...contactFieldRoutes,
  ...publicContactRoutes,
  ...recipientRoutes,
  ...jobRoutes,
  ...templateRoutes,
  ...brandRoutes,
  ...blockRoutes,
  ...campaignRoutes,
  ...launchRoutes,
  ...campaignAudienceRoutes,
  ...campaignReviewRoutes,
  ...campaignRecipientRoutes,
  ...campaignRevisionRoutes,
  ...automationRoutes,
  ...automationGraphRoutes,
  ...automationRunRoutes,
  ...automationMigrationRoutes,
  ...automationPublishingRoutes,
  ...domainRoutes,
  ...uploadRoutes,
  ...billingRoutes,
  ...configRoutes,
  ...segmentRoutes,
  ...suppressionRoutes,
  ...emailRoutes,
  ...suppressedMailRoutes,
  ...smtpRoutes,
  ...activityRoutes,
  ...analyticsRoutes,
  ...explainRoutes,
  ...erasureRoutes,
  ...securityRoutes,
  ...setupRoutes,
  ...webhookRoutes,
  ...webhookEndpointRoutes,
  ...mcpRoutes,
  ...authRoutes,
  ...accountRoutes,
  ...signUpRoutes,
  ...oauthRoutes,
  ...projectRoutes,
  ...apiKeyRoutes,
  ...auditRoutes,
  ...projectWipeRoutes,
  ...memberRoutes,
  ...invitationRoutes,
];
