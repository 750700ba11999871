import type { Dialect } from '#core/catalog/dialect.ts';
import { isRecord } from '#core/is-record.ts';
import type { Work } from '#core/steps.ts';
import type { CallPlan, Candidate } from '../admit/call-plan.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { fitResponsesCallIds } from './call-id-rules.ts';
import { sayWhoRunsShells } from './caller-shells.ts';
import { editMember, writeBody } from './edit-member.ts';
import { leaveOutForeignReasoning } from './foreign-reasoning.ts';
import { dialectAt } from './model-dialect.ts';
import { writePlainParameters } from './open-parameters.ts';
import { encryptsReasoning, takenEffort } from './reasoning-words.ts';
import {
  commonChanges,
  parseMember,
  writeDialect,
  writeOutputCap,
  writePlainModel,
  writeRouterDialect,
} from './upstream-body.ts';
import { textOrNull } from './values.ts';

/** The body for a provider that speaks the responses format; every byte that decides no price or policy as sent. */
export function buildResponsesBody(plan: CallPlan, candidate: Candidate, agentId: number): Work<Buffer> {
  const { routesBetweenVendors } = candidate.provider.kind.capabilities;
  const changes = commonChanges(plan, candidate, agentId);
  writeDialect('responses', plan, candidate, agentId, changes);
  leaveOutForeignReasoning(plan.body, 'input', candidate.endpoint.upstreamModel, changes);
  fitResponsesCallIds(plan.body, candidate.provider.dialect.callIds.responses ?? null, changes);
  const ownField = 'max_output_tokens';
  writeOutputCap(plan, candidate, { fields: [ownField], ownField, onlyOwn: false, required: false }, changes);
  // Some servers keep what nobody forbids them to: for all callers of the account.
  changes.set('store', 'false');
  sayWhoRunsShells(plan.body, changes);
  if (!dialectAt(candidate).takesSchemaChoices) writePlainParameters(plan.body, changes);
  askForEncryptedReasoning(plan.body, candidate, changes);
  if (routesBetweenVendors) writeRouterDialect(plan, candidate, agentId, changes);
  else {
    writePlainModel(candidate, changes);
    writePlainEffort(plan.body, candidate.provider.dialect.efforts, changes);
  }
  return writeBody(plan.body, changes);
}

/** Nothing is stored, so OpenAI takes back only reasoning that comes in encrypted form, which it sends to those who ask for it. */
function askForEncryptedReasoning(
  body: JsonObject,
  { endpoint, provider: { dialect } }: Candidate,
  changes: MemberChanges,
): void {
  const { fields, refusedFields } = dialect;
  const isTaken = !refusedFields.has(INCLUDE) && (fields === null || fields.responses.has(INCLUDE));
  if (!isTaken || !encryptsReasoning(endpoint.upstreamModel)) return;
  const names = parseMember(body, INCLUDE) ?? [];
  if (!Array.isArray(names) || names.includes(ENCRYPTED)) return;
  changes.set(INCLUDE, JSON.stringify([...names, ENCRYPTED]));
}

const INCLUDE = 'include';
const ENCRYPTED = 'reasoning.encrypted_content';

/** The effort in a word of the server's own scale; left out where it has none (`fit-to-dialect.ts`). */
function writePlainEffort(body: JsonObject, efforts: Dialect['efforts'], changes: MemberChanges): void {
  if (efforts === null) return;
  const edit = (reasoning: unknown): unknown => {
    const effort = isRecord(reasoning) ? textOrNull(reasoning.effort) : null;
    const taken = effort === null ? null : takenEffort(effort, efforts);
    if (!isRecord(reasoning) || taken === effort) return reasoning;
    const { effort: _, ...others } = reasoning;
    return taken === undefined ? others : { ...others, effort: taken };
  };
  editMember(body, 'reasoning', edit, changes);
}
