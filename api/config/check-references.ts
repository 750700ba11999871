import { createNearestNames } from '#core/catalog/nearest-names.ts';
import { findKind, kindNamed, PROVIDER_KIND_NAMES } from '../providers/provider-kinds.ts';
import type { ConfigDocument, Path } from './config-document.ts';
import type { ConfigDraft } from './config-draft.ts';
import type { ConfigProblem } from './config-error.ts';

const WITH_DIALECTS = PROVIDER_KIND_NAMES.filter(
  (name) => kindNamed(name).configuration.dialects !== null,
).join(' and ');

/** What no single key shows: names that repeat, point nowhere, or need each other. */
export function checkReferences(
  draft: ConfigDraft,
  providerIds: readonly string[],
  document: ConfigDocument,
): ConfigProblem[] {
  return [
    ...repeatedIds(draft.providers ?? [], 'providers', document),
    ...repeatedIds(draft.models, 'models', document),
    ...(draft.providers ?? []).flatMap((provider, index) =>
      checkProvider(provider, ['providers', index], document),
    ),
    ...draft.models.flatMap((model, index) => checkModel(model, ['models', index], providerIds, document)),
  ];
}

export function repeatedIds(
  items: readonly { id?: string | undefined }[],
  list: string,
  document: ConfigDocument,
): ConfigProblem[] {
  const seen = new Set<string>();
  return items.flatMap(({ id }, index) => {
    if (id === undefined) return [];
    if (seen.has(id)) return [document.problem([list, index, 'id'], 'stands twice in this list')];
    seen.add(id);
    return [];
  });
}

function checkProvider(
  provider: NonNullable<ConfigDraft['providers']>[number],
  path: Path,
  document: ConfigDocument,
): ConfigProblem[] {
  const { kind } = provider;
  if (kind === undefined) return [];
  // The schema reports a name that no kind has.
  const configuration = findKind(kind)?.configuration;
  const problems: ConfigProblem[] = [];
  if (configuration?.baseUrl === null && !configuration.runsInProcess && provider.baseUrl === undefined) {
    const message = `is missing: a provider of kind ${kind} needs an address`;
    problems.push(document.problem([...path, 'baseUrl'], message));
  }
  if (configuration?.mayImport === false && provider.catalog === 'import') {
    const message = `cannot be import: servers of kind ${kind} list no prices; write its models below`;
    problems.push(document.problem([...path, 'catalog'], message));
  }
  if (provider.dialect !== undefined && (configuration?.dialects ?? null) === null) {
    const message = `is for providers of kind ${WITH_DIALECTS} only`;
    problems.push(document.problem([...path, 'dialect'], message));
  }
  return problems;
}

function checkModel(
  model: ConfigDraft['models'][number],
  path: Path,
  providerIds: readonly string[],
  document: ConfigDocument,
): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (model.stopped !== true) {
    for (const [key, value] of Object.entries({
      contextLength: model.contextLength,
      endpoints: model.endpoints,
    })) {
      if (value === undefined) problems.push(document.problem([...path, key], 'is missing'));
    }
  }
  (model.endpoints ?? []).forEach(({ provider }, index) => {
    if (provider === undefined || providerIds.includes(provider)) return;
    problems.push(
      document.problem([...path, 'endpoints', index, 'provider'], noProvider(provider, providerIds)),
    );
  });
  return problems;
}

export function noProvider(name: string, providerIds: readonly string[]): string {
  const [nearest] = createNearestNames(providerIds)(name);
  const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return `names no provider of this configuration${hint}`;
}
