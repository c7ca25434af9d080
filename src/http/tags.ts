/** The groups of the API reference in its order: the tag of a route, or the first segment of its path, with title and text. */
export const tags: Readonly<Record<string, { name: string; description: string }>> = {
  emails: { name: 'Emails', description: 'Send email to named recipients, and look up what happened to each.' },
  events: {
    name: 'Events',
    description: 'Record what contacts do. Events trigger workflows and move contacts between segments.',
  },
  contacts: { name: 'Contacts', description: 'The people in your project: address, subscription and free-form data.' },
  segments: { name: 'Segments', description: 'Groups of contacts: dynamic, by conditions, or static.' },
  templates: { name: 'Templates', description: 'Reusable content with variables, written as blocks or as HTML.' },
  brand: { name: 'Brand', description: 'Logo, colors and footer that every template follows.' },
  'saved blocks': { name: 'Saved blocks', description: 'Blocks to insert into emails again.' },
  uploads: { name: 'Images', description: 'Images for email.' },
  campaigns: {
    name: 'Campaigns',
    description: 'Email to an audience: draft, schedule and send it, and account for every recipient.',
  },
  workflows: {
    name: 'Workflows',
    description: 'Automations: a graph of steps that contacts go through, started by events or schedules.',
  },
  suppressions: {
    name: 'Suppressions',
    description: 'Rules that keep email from being sent to matching addresses, and the emails they suppressed.',
  },
  domains: { name: 'Domains', description: 'Sender domains and their DNS records.' },
  verification: { name: 'Verification', description: 'Check an address before you use it.' },
  activity: { name: 'Activity', description: 'Recent and upcoming activity in a project.' },
  explain: { name: 'Explain', description: 'Why a contact received something, or did not.' },
  analytics: { name: 'Analytics', description: 'Counts and rates over time.' },
  'webhook endpoints': {
    name: 'Webhook endpoints',
    description: 'Signed webhooks to your systems (Standard Webhooks), with replay, log and audit.',
  },
  MCP: { name: 'Language models', description: 'Tools for language models (Model Context Protocol), and their plans.' },
  projects: { name: 'Projects', description: 'Projects, their keys and their state.' },
  members: { name: 'Members', description: 'The team of a project.' },
  'API keys': {
    name: 'API keys',
    description: 'Keys of apps with scopes, overlap at rotation, and limits on senders and recipients.',
  },
  'audit log': { name: 'Audit log', description: 'Who changed what in a project.' },
  billing: { name: 'Billing', description: 'Limits, usage and invoices.' },
  auth: { name: 'Authentication', description: 'Accounts and sessions of the dashboard.' },
  users: { name: 'Users', description: 'The signed-in user.' },
  recipients: {
    name: 'Recipient pages',
    description: 'Where recipients subscribe and unsubscribe, by the links in their email.',
  },
  webhooks: {
    name: 'Incoming webhooks',
    description: 'Where email providers and the payment processor report to the service.',
  },
  privacy: {
    name: 'Privacy',
    description: 'Everything known about a contact, and its erasure with a signed certificate.',
  },
  service: { name: 'Service', description: 'Health, metrics and this description.' },
};
