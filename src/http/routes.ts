import { authRoutes } from '../accounts/auth-routes.ts';
import { oauthRoutes } from '../accounts/oauth-routes.ts';
import { signUpRoutes } from '../accounts/sign-up-routes.ts';
import { activityRoutes } from '../activity/routes.ts';
import { analyticsRoutes } from '../analytics/routes.ts';
import { automationGraphRoutes } from '../automations/graph-routes.ts';
import { automationMigrationRoutes } from '../automations/migrating/routes.ts';
import { automationPublishingRoutes } from '../automations/publishing/routes.ts';
import { automationRoutes } from '../automations/routes.ts';
import { automationRunRoutes } from '../automations/runs-routes.ts';
import { billingRoutes } from '../billing/routes.ts';
import { campaignRecipientRoutes } from '../campaigns/recipients-routes.ts';
import { campaignRoutes } from '../campaigns/routes.ts';
import { contactFieldRoutes } from '../contacts/fields-routes.ts';
import { publicContactRoutes } from '../contacts/public-routes.ts';
import { contactRoutes } from '../contacts/routes.ts';
import { webhookRoutes } from '../delivery/routes.ts';
import { domainRoutes } from '../domains/routes.ts';
import { eventRoutes } from '../events/routes.ts';
import { jobRoutes } from '../jobs/routes.ts';
import { memberRoutes } from '../projects/member-routes.ts';
import { projectRoutes } from '../projects/routes.ts';
import { setupRoutes } from '../projects/setup-routes.ts';
import { recipientRoutes } from '../recipients/routes.ts';
import { securityRoutes } from '../security/routes.ts';
import { segmentRoutes } from '../segments/routes.ts';
import { suppressionRoutes } from '../suppressions/routes.ts';
import { templateRoutes } from '../templates/routes.ts';
import { transactionalRoutes } from '../transactional/routes.ts';
import { uploadRoutes } from '../uploads/routes.ts';
import { verificationRoutes } from '../verification/routes.ts';
import { configRoutes } from './config-route.ts';
import type { Route } from './route.ts';

/** Every route of the service but those about the service itself. */
export const routes: readonly Route[] = [
  ...transactionalRoutes,
  ...eventRoutes,
  ...verificationRoutes,
  ...contactRoutes,
  ...contactFieldRoutes,
  ...publicContactRoutes,
  ...recipientRoutes,
  ...jobRoutes,
  ...templateRoutes,
  ...campaignRoutes,
  ...campaignRecipientRoutes,
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
  ...activityRoutes,
  ...analyticsRoutes,
  ...securityRoutes,
  ...setupRoutes,
  ...webhookRoutes,
  ...authRoutes,
  ...signUpRoutes,
  ...oauthRoutes,
  ...projectRoutes,
  ...memberRoutes,
];
