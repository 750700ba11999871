import { isRecord } from '#core/is-record.ts';
import type { CallPlan, Candidate } from '../call-plan.ts';
import {
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json-object.ts';
import {
  commonChanges,
  isRouter,
  parseMember,
  writeDialect,
  writeOutputCap,
  writePlainModel,
  writeRouterDialect,
} from './upstream-body.ts';

/**
 * The body that goes upstream: every field that decides price or policy is written by us from what we parsed,
 * every other byte passes as sent.
 */
export function buildChatBody(plan: CallPlan, candidate: Candidate, agentId: number): Buffer {
  const changes = commonChanges(plan, candidate, agentId);
  writeDialect(plan, candidate, agentId, changes);
  const ownField = candidate.provider.dialect.capField;
  const onlyOwn = !isRouter(candidate);
  writeOutputCap(plan, candidate, { fields: CAP_FIELDS, ownField, onlyOwn, required: false }, changes);
  writeStreamOptions(plan, changes);
  if (isRouter(candidate)) writeRouterDialect(plan, candidate, agentId, changes);
  else {
    writePlainModel(candidate, changes);
    writePlainReasoning(plan.body, changes);
  }
  return rebuildJsonObject(plan.body, changes);
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

/** A plain server knows the effort alone, by a name of its own. */
function writePlainReasoning(body: JsonObject, changes: MemberChanges): void {
  const reasoning = parseMember(body, 'reasoning');
  if (reasoning === undefined) return;
  changes.set('reasoning', null);
  if (isRecord(reasoning) && typeof reasoning.effort === 'string' && !memberText(body, 'reasoning_effort')) {
    changes.set('reasoning_effort', JSON.stringify(reasoning.effort));
  }
}
