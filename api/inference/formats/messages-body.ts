import { isSteps, type Steps, type Work } from '#core/steps.ts';
import type { CallPlan, Candidate } from '../admit/call-plan.ts';
import { memberBytes, memberText, scanJsonObjectInSteps } from '../json/json-object.ts';
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
export function buildMessagesBody(plan: CallPlan, candidate: Candidate, agentId: number): Work<Buffer> {
  const given = memberBytes(plan.body, 'metadata');
  return given === undefined
    ? buildWith(undefined, plan, candidate, agentId)
    : buildWithTag(given, plan, candidate, agentId);
}

/** @param metadata JSON text of what is sent; `null`: none; `undefined`: the caller has sent none. */
function buildWith(
  metadata: string | null | undefined,
  plan: CallPlan,
  candidate: Candidate,
  agentId: number,
): Work<Buffer> {
  const { routesBetweenVendors } = candidate.provider.kind.capabilities;
  const changes = commonChanges(plan, candidate, agentId);
  // The format requires a cap, and most of its servers do.
  writeOutputCap(
    plan,
    candidate,
    { fields: ['max_tokens'], ownField: 'max_tokens', onlyOwn: false, required: true },
    changes,
  );
  if (metadata !== undefined) changes.set('metadata', metadata);
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
  return writeBody(plan.body, changes);
}

/** Abuse tags are kept per upstream account, which all agents share: each gets its own. */
function* buildWithTag(given: Buffer, plan: CallPlan, candidate: Candidate, agentId: number): Steps<Buffer> {
  const scan = scanJsonObjectInSteps(given);
  const metadata = isSteps(scan) ? yield* scan : scan;
  yield 'scan metadata';
  const userId = typeof metadata === 'string' ? undefined : memberText(metadata, 'user_id');
  const isTagged = userId !== undefined && userId !== 'null';
  const sent = isTagged ? `{"user_id":${callerTag(agentId, userId)}}` : null;
  const built = buildWith(sent, plan, candidate, agentId);
  return isSteps(built) ? yield* built : built;
}
