/** A method of the client for Python: the operation that it calls, and how. */
export interface Method {
  operation: string;
  /** The field of the response that it returns. */
  take?: string;
  /** It returns a list, page by page. */
  list?: true;
  /** Fields of the body that are parameters of their own, by the names of those. */
  fields?: Readonly<Record<string, string>>;
  /** A body that is always the same. */
  fixed?: Readonly<Record<string, unknown>>;
  /** Path parameters, by the names that they have here; for others it is the same name. */
  path?: Readonly<Record<string, string>>;
  /** Path parameters that may be left out, with their values then. */
  defaults?: Readonly<Record<string, string>>;
  /** Where the project of the key goes: into a path parameter, or into a field of the body. */
  project?: 'projectId' | 'id' | 'body';
  /** It calls another method until its result is so, and has the parameters of that. */
  wait?: { calls: string; until: string; after?: string };
  /** Its docstring, where that is not the summary of the operation. */
  about?: string;
}

type Entry = string | Method;

/** `getCampaign data` calls `getCampaign` and returns `data` of its response; `listEmails[]` returns a list. */
function parsed(entry: Entry): Method {
  if (typeof entry !== 'string') return entry;
  const [, operation = '', list, take] = /^(\w+)(\[\])?(?: ([\w.]+))?$/.exec(entry) ?? [];
  return { operation, ...(list && { list: true as const }), ...(take && { take }) };
}

const hasEnded = 'value["state"] in ("completed", "failed")';

const table = {
  '': {
    send: 'sendEmail data.emails',
    send_batch: 'sendEmailBatch data.results',
    track: 'trackEvent data',
    verify_address: { operation: 'verifyAddress', take: 'data', fields: { email: 'email' } },
    explain: 'explain',
  },
  emails: {
    list: 'listEmails[]',
    get: 'getEmail',
    reschedule: { operation: 'updateEmail', fields: { scheduled_for: 'scheduledFor' } },
    cancel: 'cancelEmail',
    release: 'releaseEmail',
    resend: 'resendEmail',
    export: 'exportEmails',
  },
  contacts: {
    list: 'listContacts[]',
    get: 'getContact',
    upsert: 'upsertContact',
    update: 'updateContact',
    delete: 'deleteContact',
    lookup: 'lookupContacts',
    search: 'searchContacts[]',
    get_holdout: 'getContactHoldout',
    export: 'exportContacts',
    import_: 'importContacts',
    subscribe: 'subscribeContacts',
    unsubscribe: 'unsubscribeContacts',
    delete_many: 'deleteContacts',
    list_history: 'listContactHistory[]',
    list_events: { operation: 'listContactEvents', list: true, path: { id: 'contactId' } },
    list_segments: 'listContactSegments[]',
    dossier: 'exportContact',
    erase: 'eraseContact',
  },
  segments: {
    list: 'listSegments[]',
    get: 'getSegment',
    create: 'createSegment',
    update: 'updateSegment',
    delete: 'deleteSegment',
    preview: 'previewSegment',
    list_contacts: 'listSegmentContacts[]',
    add_members: 'addSegmentMembers',
    remove_members: 'removeSegmentMembers',
  },
  events: {
    list: 'listEvents[]',
    record: 'recordEvent',
    list_names: 'listEventNames[]',
    stats: 'getEventStats',
    usage: { operation: 'getEventUsage', path: { name: 'eventName' } },
    delete: { operation: 'deleteEvents', path: { name: 'eventName' } },
  },
  suppressions: {
    list: 'listSuppressionRules[]',
    create: 'createSuppressionRule',
    update: 'updateSuppressionRule',
    delete: 'deleteSuppressionRule',
    preview: 'previewSuppressionRules',
    list_emails: 'listSuppressedEmails[]',
    get_email: 'getSuppressedEmail',
  },
  jobs: {
    list: 'listContactJobs[]',
    get: { operation: 'getBulkJob', path: { id: 'jobId' } },
    get_import: { operation: 'getContactImport', path: { id: 'jobId' } },
    undo: { operation: 'undoBulkJob', path: { id: 'jobId' } },
    undo_import: { operation: 'undoImport', path: { id: 'jobId' } },
    wait: {
      operation: 'getBulkJob',
      wait: { calls: 'get', until: hasEnded },
      about: 'The bulk change when it has ended: its `state` is `completed` or `failed`.',
    },
    wait_for_import: {
      operation: 'getContactImport',
      wait: { calls: 'get_import', until: hasEnded },
      about: 'The import when it has ended: its `state` is `completed` or `failed`.',
    },
  },
  erasures: {
    list: 'listErasures[]',
    get: 'getErasure',
    wait: {
      operation: 'getErasure',
      wait: { calls: 'get', until: 'value["status"] != "RUNNING"' },
      about:
        'The erasure when nothing is left in the service. What other systems keep expires later: its `status` is then `WAITING`.',
    },
  },
  templates: {
    list: 'listTemplates[]',
    get: 'getTemplate',
    create: 'createTemplate',
    update: 'updateTemplate',
    delete: 'deleteTemplate',
    duplicate: 'duplicateTemplate',
    preview: 'previewTemplate',
    test: 'testTemplate',
    list_versions: 'listTemplateVersions[]',
  },
  campaigns: {
    list: 'listCampaigns[]',
    get: 'getCampaign data',
    create: 'createCampaign data',
    update: 'updateCampaign data',
    delete: 'deleteCampaign',
    duplicate: 'duplicateCampaign data',
    send: 'sendCampaign data',
    schedule: {
      operation: 'sendCampaign',
      take: 'data',
      fields: { scheduled_for: 'scheduledFor' },
      about: 'Sends it at a time, an ISO 8601 instant.',
    },
    cancel: 'cancelCampaign data',
    pause: 'pauseCampaign data',
    resume: 'resumeCampaign data',
    resend: 'resendCampaign data',
    archive: 'archiveCampaign data',
    unarchive: 'unarchiveCampaign data',
    test: 'testCampaign',
    stats: 'getCampaignStats data',
    audit: 'getCampaignAudit data',
    list_recipients: 'listCampaignRecipients[]',
    start_dry_run: 'startCampaignDryRun data',
    get_dry_run: { operation: 'getCampaignDryRun', take: 'data', defaults: { n: 'latest' } },
    review: {
      operation: 'getCampaignDryRun',
      take: 'data',
      wait: { after: 'start_dry_run', calls: 'get_dry_run', until: 'value["state"] in ("DONE", "FAILED")' },
      about: 'A dry run from its start to its end: its `state` is `DONE` or `FAILED`.',
    },
    revise: 'reviseCampaign data',
    correct: 'createCampaignCorrection data',
    withdraw: 'withdrawCampaignApproval',
  },
  workflows: {
    list: 'listWorkflows[]',
    get: 'getWorkflow',
    create: 'createWorkflow',
    update: 'updateWorkflow',
    delete: 'deleteWorkflow',
    duplicate: 'duplicateWorkflow',
    enable: { operation: 'updateWorkflow', fixed: { enabled: true }, about: 'Enables it.' },
    disable: {
      operation: 'updateWorkflow',
      fixed: { enabled: false },
      about: 'Disables it: no contact enters it anymore, and those who are in it go on.',
    },
    pause: 'pauseWorkflow',
    resume: 'resumeWorkflow',
    replace_graph: 'replaceWorkflowGraph',
    get_rollout: 'getWorkflowRollout',
    update_rollout: 'updateWorkflowRollout',
    finish_rollout: 'finishWorkflowRollout',
    take_rollout_back: 'takeWorkflowRolloutBack',
    list_versions: 'listWorkflowVersions[]',
    test: 'testWorkflow',
    start: 'startWorkflowExecution',
    enroll: 'enrollContacts',
    simulate: 'simulateWorkflow',
    get_simulation: { operation: 'getWorkflowSimulation', path: { job_id: 'jobId' } },
    cancel_simulation: { operation: 'cancelWorkflowSimulation', path: { job_id: 'jobId' } },
    list_simulated_contacts: { operation: 'listSimulatedContacts', list: true, path: { job_id: 'jobId' } },
    list_executions: 'listWorkflowExecutions[]',
    get_execution: { operation: 'getWorkflowExecution', path: { execution_id: 'executionId' } },
    cancel_execution: { operation: 'cancelWorkflowExecution', path: { execution_id: 'executionId' } },
    cancel_executions: 'cancelWorkflowExecutions',
    retry_executions: 'retryWorkflowExecutions',
    count_contacts: 'countWorkflowContacts',
    get_goal: 'getWorkflowGoal',
    migrate: 'migrateWorkflow',
  },
  webhook_endpoints: {
    list: 'listWebhookEndpoints[]',
    get: 'getWebhookEndpoint',
    create: 'createWebhookEndpoint',
    update: 'updateWebhookEndpoint',
    delete: 'deleteWebhookEndpoint',
    rotate_secret: 'rotateWebhookEndpointSecret',
    test: 'testWebhookEndpoint',
    list_deliveries: 'listWebhookEndpointDeliveries[]',
    get_delivery: { operation: 'getWebhookEndpointDelivery', path: { event_id: 'eventId' } },
    redeliver: { operation: 'redeliverWebhookEndpointDelivery', path: { event_id: 'eventId' } },
    replay: 'replayWebhookEndpoint',
    audit: 'getWebhookEndpointAudit',
  },
  domains: {
    list: { operation: 'listDomains', list: true, project: 'projectId' },
    create: { operation: 'addDomain', fields: { domain: 'domain' }, project: 'body' },
    verify: 'checkDomain',
    check_dmarc: 'checkDmarc',
    delete: 'deleteDomain',
  },
  keys: {
    list: { operation: 'listProjectApiKeys', list: true, project: 'id' },
  },
  holdout: {
    get: { operation: 'getHoldout', project: 'id' },
    set: { operation: 'setHoldout', project: 'id' },
    end: { operation: 'endHoldout', project: 'id' },
  },
} satisfies Record<string, Record<string, Entry>>;

/** The methods of the client itself, under the name '', and of each kind of resource: those of the SDK, as Python names them. */
export const methods: Readonly<Record<string, Readonly<Record<string, Method>>>> = Object.fromEntries(
  Object.entries<Record<string, Entry>>(table).map(([resource, entries]) => [
    resource,
    Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, parsed(entry)])),
  ]),
);
