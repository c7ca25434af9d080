import { contactFieldRoutes } from '../../audience/contacts/fields-routes.ts';
import { contactRoutes } from '../../audience/contacts/routes.ts';
import { eventRoutes } from '../../audience/events/routes.ts';
import { jobRoutes } from '../../audience/jobs/routes.ts';
import { contactListRoutes } from '../../audience/lists/routes.ts';
import { segmentRoutes } from '../../audience/segments/routes.ts';
import { suppressionRoutes } from '../../audience/suppressions/routes.ts';
import { automationGraphRoutes } from '../../automations/graph/routes.ts';
import { automationMigrationRoutes } from '../../automations/migrating/routes.ts';
import { automationPublishingRoutes } from '../../automations/publishing/routes.ts';
import { automationRoutes } from '../../automations/routes.ts';
import { automationRunRoutes } from '../../automations/runs/routes.ts';
import { automationTestRunRoutes } from '../../automations/test-run/routes.ts';
import { blockRoutes } from '../../content/blocks/routes.ts';
import { brandRoutes } from '../../content/brand/routes.ts';
import { templateRoutes } from '../../content/templates/routes.ts';
import { uploadRoutes } from '../../content/uploads/routes.ts';
import type { Route } from '../../core/http/route.ts';
import { activityRoutes } from '../../insight/activity/routes.ts';
import { analyticsRoutes } from '../../insight/analytics/routes.ts';
import { erasureRoutes } from '../../insight/erasures/routes.ts';
import { explainRoutes } from '../../insight/explain/routes.ts';
import { mcpRoutes } from '../../insight/mcp/routes.ts';
import { setupRoutes } from '../../insight/setup/routes.ts';
import { webhookEndpointRoutes } from '../../insight/webhooks/routes.ts';
import { accountRoutes } from '../../platform/accounts/account-routes.ts';
import { authRoutes } from '../../platform/accounts/auth-routes.ts';
import { oauthRoutes } from '../../platform/accounts/oauth-routes.ts';
import { signUpRoutes } from '../../platform/accounts/sign-up-routes.ts';
import { auditRoutes } from '../../platform/audit/routes.ts';
import { billingRoutes } from '../../platform/billing/routes.ts';
import { domainRoutes } from '../../platform/domains/routes.ts';
import { invitationRoutes } from '../../platform/invitations/routes.ts';
import { apiKeyRoutes } from '../../platform/projects/api-key-routes.ts';
import { memberRoutes } from '../../platform/projects/member-routes.ts';
import { projectRoutes } from '../../platform/projects/routes.ts';
import { verificationRoutes } from '../../platform/verification/routes.ts';
import { projectWipeRoutes } from '../../platform/wipes/routes.ts';
import { campaignAudienceRoutes } from '../../sending/campaigns/audience/routes.ts';
import { canaryRoutes } from '../../sending/campaigns/canary/routes.ts';
import { campaignRecipientRoutes } from '../../sending/campaigns/results/routes.ts';
import { campaignReviewRoutes } from '../../sending/campaigns/review/routes.ts';
import { campaignRevisionRoutes } from '../../sending/campaigns/revisions/routes.ts';
import { campaignRoutes } from '../../sending/campaigns/routes.ts';
import { emailRoutes } from '../../sending/emails/routes.ts';
import { publicContactRoutes } from '../../sending/recipients/public-routes.ts';
import { recipientRoutes } from '../../sending/recipients/routes.ts';
import { webhookRoutes } from '../../sending/reports/routes.ts';
import { securityRoutes } from '../../sending/reputation/routes.ts';
import { smtpRoutes } from '../../sending/smtp-in/routes.ts';
import { suppressedMailRoutes } from '../../sending/suppressed/routes.ts';
import { transactionalRoutes } from '../../sending/transactional/routes.ts';
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
  ...campaignAudienceRoutes,
  ...campaignReviewRoutes,
  ...campaignRecipientRoutes,
  ...campaignRevisionRoutes,
  ...canaryRoutes,
  ...automationRoutes,
  ...automationGraphRoutes,
  ...automationRunRoutes,
  ...automationMigrationRoutes,
  ...automationPublishingRoutes,
  ...automationTestRunRoutes,
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
