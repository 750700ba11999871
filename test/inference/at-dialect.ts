import type { Catalog, FormatName } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import { runAtOnce } from '#core/steps.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { requestIn } from '../formats/requests.ts';
import { plainHealth } from '../support/plain-health.ts';
import { endpoint, model, noLinkRules, provider, testCatalog } from './support.ts';

/* What a server of one dialect is sent, and what the caller is told of it. */

const AGENT = 7;

/** A catalogue of one model at one plain server of this dialect. */
export const at = (
  dialect: Dialect,
  formats: readonly FormatName[] = dialect.formats,
  upstreamModel = 'small-2026',
): Catalog =>
  testCatalog({
    models: [model({ endpoints: [endpoint({ providerId: 'plain', upstreamModel })] })],
    providers: [provider({ id: 'plain', kind: providerKinds.openai, dialect, formats })],
  });

export const admitted = (format: FormatName, extra: object, catalog: Catalog) =>
  admitCall(
    callFormats[format],
    Buffer.from(JSON.stringify(requestIn(format, 'acme/small', extra))),
    'active',
    { catalog, health: plainHealth(), links: noLinkRules },
  );

/** What goes to the provider. */
export function sent(
  format: FormatName,
  extra: object,
  catalog: Catalog,
  agentId = AGENT,
): Record<string, unknown> {
  const result = admitted(format, extra, catalog);
  if (!result.ok) throw new Error(result.error.message);
  const [candidate] = result.plan.candidates;
  if (candidate === undefined) throw new Error('no candidate');
  const { translated } = candidate;
  const plan = translated === null ? result.plan : { ...result.plan, body: translated };
  return JSON.parse(runAtOnce(candidate.format.buildBody(plan, candidate, agentId)).toString());
}

export function refusal(format: FormatName, extra: object, catalog: Catalog): string {
  const result = admitted(format, extra, catalog);
  return result.ok ? 'admitted' : `${result.error.code} ${result.error.param}`;
}

/** The names of what the first provider is not sent, or why it is not asked. */
export function leftOut(format: FormatName, extra: object, catalog: Catalog): unknown {
  const result = admitted(format, extra, catalog);
  return result.ok ? result.plan.candidates[0]?.leftOut : result.error.code;
}
