import { isRecord } from '#core/is-record.ts';
import type { Work } from '#core/steps.ts';
import type { CallPlan, Candidate } from '../admit/call-plan.ts';
import { MemberChanges, memberBytes, rebuildJsonObject, scanJsonObject } from '../json/json-object.ts';
import { modelOutputTokens } from '../price/estimate.ts';
import { signForeignCallsIn } from './call-signature.ts';
import { writeBody } from './edit-member.ts';
import { fitChat } from './fit-to-dialect.ts';
import { dialectAt } from './model-dialect.ts';
import { asksRest, effortOf, isForced, takenEffort } from './reasoning-words.ts';
import {
  commonChanges,
  parseMember,
  writeDialect,
  writeOutputCap,
  writePlainModel,
  writeRouterDialect,
} from './upstream-body.ts';
import { numberOf, textOrNull } from './values.ts';

/**
 * The body that goes upstream: every field that decides price or policy is written by us from what we parsed,
 * every other byte passes as sent.
 */
export function buildChatBody(plan: CallPlan, candidate: Candidate, agentId: number): Work<Buffer> {
  const { routesBetweenVendors } = candidate.provider.kind.capabilities;
  const changes = commonChanges(plan, candidate, agentId);
  writeDialect('chat', plan, candidate, agentId, changes);
  const dialect = dialectAt(candidate);
  if (candidate.editsChat) fitChat(dialect, plan.body, changes);
  const ownField = candidate.provider.dialect.capField;
  const onlyOwn = !routesBetweenVendors;
  writeOutputCap(plan, candidate, { fields: CAP_FIELDS, ownField, onlyOwn, required: false }, changes);
  writeStreamOptions(plan, changes);
  if (routesBetweenVendors) writeRouterDialect(plan, candidate, agentId, changes);
  else {
    writePlainModel(candidate, changes);
    writePlainReasoning(plan, candidate, changes);
    if (dialect.restsByThinking) writeRest(plan, changes);
    const { provider, endpoint } = candidate;
    if (provider.dialect.signsCalls) signForeignCallsIn(plan.body, endpoint.upstreamModel, changes);
  }
  return writeBody(plan.body, changes);
}

const CAP_FIELDS = ['max_tokens', 'max_completion_tokens'];

/** Usage is always asked for: it is what the call is charged by. */
function writeStreamOptions(plan: CallPlan, changes: MemberChanges): void {
  if (!plan.stream) {
    changes.set('stream_options', null);
    return;
  }
  const given = memberBytes(plan.body, 'stream_options');
  const object = given === undefined ? 'not_an_object' : scanJsonObject(given);
  changes.set(
    'stream_options',
    typeof object === 'string'
      ? '{"include_usage":true}'
      : rebuildJsonObject(object, new MemberChanges([['include_usage', 'true']])).toString(),
  );
}

/** A plain server knows the effort alone, by a name of its own; what else was asked for is left out (`fit-to-dialect.ts`). */
function writePlainReasoning(
  { body, outputTokensCap }: CallPlan,
  candidate: Candidate,
  changes: MemberChanges,
): void {
  const reasoning = parseMember(body, 'reasoning');
  const { efforts } = candidate.provider.dialect;
  const named = textOrNull(parseMember(body, 'reasoning_effort'));
  if (named !== null) writeEffort(takenEffort(named, efforts), changes);
  if (reasoning === undefined) return;
  changes.set('reasoning', null);
  if (!isRecord(reasoning) || named !== null) return;
  const asked = {
    enabled: true,
    effort: textOrNull(reasoning.effort),
    budgetTokens: numberOf(reasoning.max_tokens),
  };
  const cap = Math.min(outputTokensCap ?? Number.MAX_SAFE_INTEGER, modelOutputTokens(candidate));
  const effort = effortOf(asked, cap);
  if (effort !== undefined) writeEffort(takenEffort(effort, efforts), changes);
}

/** Switches reasoning off where the caller wishes that, or a tool must be called. */
function writeRest({ body }: CallPlan, changes: MemberChanges): void {
  const [choice, named, reasoning] = ['tool_choice', 'reasoning_effort', 'reasoning'].map((name) =>
    parseMember(body, name),
  );
  if (!isForced(choice) && !asksRest(named, reasoning)) return;
  changes.set('thinking', '{"type":"disabled"}');
  changes.set('reasoning_effort', null);
}

/** `undefined`: the server has no word for it. */
const writeEffort = (effort: string | undefined, changes: MemberChanges): void =>
  changes.set('reasoning_effort', effort === undefined ? null : JSON.stringify(effort));
