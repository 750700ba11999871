import type { FormatName, Provider } from '#core/catalog/catalog.ts';
import { systemClock } from '#core/clock.ts';
import { type Admitted, admitInSteps } from '../../api/inference/admit/admit.ts';
import type { CallPlan } from '../../api/inference/admit/call-plan.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { estimateHold } from '../../api/inference/price/estimate.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { model, noLinkRules, provider, testCatalog } from '../inference/support.ts';
import { plainHealth } from '../support/plain-health.ts';

export const formats = ['chat', 'responses', 'messages'] as const;

/** One that speaks the caller's format, one that keeps to a list of fields, and those that a call is translated for. */
export const providers: ReadonlyMap<string, Partial<Provider>> = new Map([
  ['router', {}],
  ['plain', { kind: providerKinds.openai }],
  ['vllm', { kind: providerKinds.openai, dialect: dialects.vllm }],
  ['to chat', { kind: providerKinds.openai, formats: ['chat'] }],
  ['to messages', { kind: providerKinds.anthropic, formats: ['messages'] }],
]);

/**
 * What each turn of the event loop costs that a large body takes before its provider is asked, in order. It is admitted in steps
 * (`admitInSteps`), and sent in a turn of its own. A body that is refused gets no further.
 */
export function measureTurns<Cost>(
  format: FormatName,
  bytes: Buffer,
  given: Partial<Provider>,
  measure: (work: () => unknown) => Cost,
): { turn: string; cost: Cost }[] {
  const catalog = testCatalog({
    models: [model({ contextLength: 10_000_000, inputModalities: ['text', 'image', 'file'] })],
    providers: [provider(given)],
  });
  const routes = { catalog, health: plainHealth(systemClock), links: noLinkRules };
  const turns: { turn: string; cost: Cost }[] = [];
  const steps = admitInSteps(callFormats[format], bytes, 'active', routes);
  for (;;) {
    const ended: IteratorResult<string, Admitted>[] = [];
    const cost = measure(() => ended.push(steps.next()));
    const [{ done, value } = steps.next()] = ended;
    turns.push({ turn: `${turns.length + 1}. ${done === true ? 'end' : value}`, cost });
    if (done !== true) continue;
    if (value.ok) turns.push({ turn: `${turns.length + 1}. send`, cost: measure(() => send(value.plan)) });
    return turns;
  }
}

function send(plan: CallPlan): void {
  const [candidate] = plan.candidates;
  if (candidate === undefined) return;
  estimateHold(plan);
  const asked = candidate.translated === null ? plan : { ...plan, body: candidate.translated };
  candidate.format.buildBody(asked, candidate, 1);
}
