import type { CallPlan, Candidate } from '../admit/call-plan.ts';
import { rebuildJsonObject } from '../json/json-object.ts';
import { leaveOutForeignReasoning } from './foreign-reasoning.ts';
import {
  commonChanges,
  writeDialect,
  writeOutputCap,
  writePlainModel,
  writeRouterDialect,
} from './upstream-body.ts';

/** The body for a provider that speaks the responses format; every byte that decides no price or policy as sent. */
export function buildResponsesBody(plan: CallPlan, candidate: Candidate, agentId: number): Buffer {
  const { routesBetweenVendors } = candidate.provider.kind.capabilities;
  const changes = commonChanges(plan, candidate, agentId);
  writeDialect('responses', plan, candidate, agentId, changes);
  leaveOutForeignReasoning(plan.body, 'input', candidate.endpoint.upstreamModel, changes);
  const ownField = 'max_output_tokens';
  writeOutputCap(plan, candidate, { fields: [ownField], ownField, onlyOwn: false, required: false }, changes);
  // Some servers keep what nobody forbids them to: for all callers of the account.
  changes.set('store', 'false');
  if (routesBetweenVendors) writeRouterDialect(plan, candidate, agentId, changes);
  else writePlainModel(candidate, changes);
  return rebuildJsonObject(plan.body, changes);
}
