import type { Steps } from '#core/steps.ts';
import type { CallPlan, Candidate } from '../admit/call-plan.ts';
import {
  type JsonObject,
  type MemberChanges,
  memberBytes,
  memberText,
  scanJsonObjectInSteps,
} from '../json/json-object.ts';
import { fitMessagesCallIds } from './call-id-rules.ts';
import { writeBody } from './edit-member.ts';
import { leaveOutForeignReasoning } from './foreign-reasoning.ts';
import { leaveOutBetaFields } from './leave-out-beta-fields.ts';
import { leaveOutBillingLine } from './leave-out-billing-line.ts';
import {
  callerTag,
  commonChanges,
  writeDialect,
  writeOutputCap,
  writePlainModel,
  writeRouterDialect,
} from './upstream-body.ts';

/** The body for a provider that speaks the messages format; every byte that decides no price or policy as sent. */
export function* buildMessagesBody(plan: CallPlan, candidate: Candidate, agentId: number): Steps<Buffer> {
  const { routesBetweenVendors } = candidate.provider.kind.capabilities;
  const changes = commonChanges(plan, candidate, agentId);
  // The format requires a cap, and most of its servers do.
  writeOutputCap(
    plan,
    candidate,
    { fields: ['max_tokens'], ownField: 'max_tokens', onlyOwn: false, required: true },
    changes,
  );
  yield* writeUserId(plan.body, agentId, changes);
  writeDialect('messages', plan, candidate, agentId, changes);
  if (candidate.translated === null) {
    leaveOutForeignReasoning(plan.body, 'messages', candidate.endpoint.upstreamModel, changes);
    leaveOutBetaFields(plan.body, candidate.betaFields, changes);
    leaveOutBillingLine(plan.body, candidate.endpoint.upstreamModel, changes);
    fitMessagesCallIds(plan.body, candidate.endpoint.upstreamModel, changes);
  }
  if (routesBetweenVendors) writeRouterDialect(plan, candidate, agentId, changes);
  else {
    writePlainModel(candidate, changes);
    changes.set('user', null);
  }
  return yield* writeBody(plan.body, changes);
}

/** Abuse tags are kept per upstream account, which all agents share: each gets its own. */
function* writeUserId(body: JsonObject, agentId: number, changes: MemberChanges): Steps<void> {
  const given = memberBytes(body, 'metadata');
  if (given === undefined) return;
  const metadata = yield* scanJsonObjectInSteps(given);
  yield 'scan metadata';
  const userId = typeof metadata === 'string' ? undefined : memberText(metadata, 'user_id');
  if (userId === undefined || userId === 'null') changes.set('metadata', null);
  else changes.set('metadata', `{"user_id":${callerTag(agentId, userId)}}`);
}
