import type { IncomingHttpHeaders } from 'node:http';

/*
 * Betas of the messages format, each with the fields that a server takes with it alone. A beta and its fields are sent together or
 * stay away together: a server that is sent the field without the beta refuses the whole call.
 */

interface Beta {
  name: string;
  /** Whether a caller may switch it on. Some change prices, some reach what is kept for the account that all agents share. */
  isAllowed: boolean;
  /** Paths of members that come with it; `cache_control.scope` stands for that of any part, `messages[]` for any message. */
  fields: readonly string[];
}

const betas: readonly Beta[] = [
  { name: 'interleaved-thinking-2025-05-14', isAllowed: true, fields: [] },
  { name: 'structured-outputs-2025-11-13', isAllowed: true, fields: [] },
  // Policy lets those of its edits pass that only clear.
  { name: 'context-management-2025-06-27', isAllowed: true, fields: ['context_management'] },
  { name: 'effort-2025-11-24', isAllowed: true, fields: [] },
  { name: 'task-budgets-2026-03-13', isAllowed: true, fields: ['output_config.task_budget'] },
  { name: 'advanced-tool-use-2025-11-20', isAllowed: true, fields: [] },
  { name: 'fine-grained-tool-streaming-2025-05-14', isAllowed: true, fields: [] },
  { name: 'extended-cache-ttl-2025-04-11', isAllowed: true, fields: [] },
  // Policy reads every tool that they bring.
  { name: 'mid-conversation-tool-changes-2026-07-01', isAllowed: true, fields: [] },
  { name: 'inline-tools-2026-09-15', isAllowed: true, fields: [] },
  {
    name: 'mid-conversation-output-config-2026-07-01',
    isAllowed: true,
    fields: ['messages[].output_config'],
  },
  { name: 'mid-conversation-system-clear-at-2026-08-21', isAllowed: true, fields: ['messages[].clear_at'] },
  { name: 'thinking-display-updates-2026-08-18', isAllowed: true, fields: [] },
  { name: 'thinking-binding-controls-2026-08-01', isAllowed: true, fields: ['thinking.block_binding'] },
  // Tools that the caller runs, each with the edition of its beta.
  { name: 'computer-use-2024-10-22', isAllowed: true, fields: [] },
  { name: 'computer-use-2025-01-24', isAllowed: true, fields: [] },
  { name: 'computer-use-2025-11-24', isAllowed: true, fields: [] },
  { name: 'token-efficient-tools-2025-02-19', isAllowed: true, fields: [] },
  { name: 'mid-conversation-system-2026-04-07', isAllowed: true, fields: [] },
  // A cache for the whole account would tell one agent what another has asked.
  { name: 'prompt-caching-scope-2026-01-05', isAllowed: false, fields: ['cache_control.scope'] },
  // It compares a call with an earlier one of the account.
  { name: 'cache-diagnosis-2026-04-07', isAllowed: false, fields: ['diagnostics'] },
  { name: 'fallback-credit-2026-06-01', isAllowed: false, fields: ['fallback_credit_token'] },
];

/** The betas that a caller asks for and may switch on, as one header; `null`: none. */
export function allowedBetas(headers: IncomingHttpHeaders): string | null {
  const given = [headers['anthropic-beta'], headers['x-anthropic-beta']].filter((each) => each !== undefined);
  if (given.length === 0) return null;
  const asked = given.join(',').split(',');
  const allowed = betas.filter(
    ({ name, isAllowed }) => isAllowed && asked.some((each) => each.trim() === name),
  );
  return allowed.length === 0 ? null : allowed.map(({ name }) => name).join(',');
}

/** The betas that are sent, with those that these fields need; `null`: none. */
export function withBetasOf(fields: readonly string[], sent: string | null): string | null {
  if (fields.length === 0) return sent;
  const needed = betas.filter((beta) => beta.fields.some((field) => fields.includes(field)));
  return [...new Set([...(sent?.split(',') ?? []), ...needed.map(({ name }) => name)])].join(',');
}

/** Tells a server of the messages format which betas are switched on. */
export const betaHeaders = (sent: string): Readonly<Record<string, string>> => ({ 'anthropic-beta': sent });

/** The fields that a server does not take, because their betas are not among those that it is sent. */
export function fieldsWithoutBeta(sent: string | null): readonly BetaField[] {
  if (sent === null) return betaFields;
  const on = sent.split(',');
  return betaFields.filter(({ beta }) => !on.includes(beta));
}

/** Most calls are sent without betas, and each is looked at for all of these fields. */
const betaFields: readonly BetaField[] = betas.flatMap(({ name: beta, fields }) =>
  fields.map((path) => {
    const [member = '', inner = ''] = path.split('.');
    return { beta, path, member, inner };
  }),
);

export interface BetaField {
  beta: string;
  path: string;
  /** The body's own member; `messages[]` for any message. */
  member: string;
  /** The member of that one which needs the beta; empty: the whole one does. */
  inner: string;
}
