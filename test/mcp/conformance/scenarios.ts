/**
 * What the suite asks of a server, by revision, and what of it means something for one that has tools of its own, keys
 * and no sessions. Together they are all that the suite has: a scenario that is in neither fails a test.
 */
export const applicable: Readonly<Record<string, readonly string[]>> = {
  // The suite has no other scenario for it, and this one says that there are no sessions to look at.
  '2025-03-26': ['server-session-lifecycle'],
  '2025-06-18': [
    'server-initialize',
    'ping',
    'tools-list',
    'server-session-lifecycle',
    'server-sse-multiple-streams',
  ],
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'server-session-lifecycle',
    'server-sse-multiple-streams',
  ],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'http-header-validation',
    'server-sse-multiple-streams',
    'caching',
    'input-required-result-unsupported-methods',
    'input-required-result-validate-input',
  ],
};

const FIXTURE =
  'it calls tools, prompts or resources of its own names, which a server of fixed tools does not have';
const NOT_OFFERED = 'it is about a capability that the server does not offer';

/** By the reason, for all revisions that have them. */
export const exceptions: Readonly<Record<string, readonly string[]>> = {
  [FIXTURE]: [
    'tools-call-simple-text',
    'tools-call-image',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-mixed-content',
    'tools-call-error',
    'tools-call-with-progress',
    'tools-call-with-logging',
    'tools-call-sampling',
    'tools-call-elicitation',
    'json-schema-2020-12',
    'server-sse-polling',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'input-required-result-basic-elicitation',
    'input-required-result-basic-sampling',
    'input-required-result-basic-list-roots',
    'input-required-result-request-state',
    'input-required-result-multiple-input-requests',
    'input-required-result-multi-round',
    'input-required-result-missing-input-response',
    'input-required-result-non-tool-request',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'input-required-result-capability-check',
    'input-required-result-ignore-extra-params',
  ],
  [NOT_OFFERED]: [
    'http-custom-header-server-validation',
    'logging-set-level',
    'completion-complete',
    'resources-list',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
    'resources-subscribe',
    'resources-unsubscribe',
    'sep-2164-resource-not-found',
    'prompts-list',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
  ],
  'any origin may call here, as the service promises; the key guards it': ['dns-rebinding-protection'],
};
