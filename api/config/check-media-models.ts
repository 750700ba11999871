import { isBounded } from '#core/catalog/image-price.ts';
import { priced } from '#core/catalog/priced-video-model.ts';
import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { providerKinds } from '../providers/provider-kinds.ts';
import { noProvider, repeatedIds } from './check-references.ts';
import type { ConfigDocument, Path } from './config-document.ts';
import type { ConfigProblem } from './config-error.ts';
import type { ConfigFile } from './config-file.ts';
import { toImageModel, toVideoModel } from './to-media-settings.ts';

const OF_VIDEOS = ['provider', 'model', 'resolutions', 'aspectRatios', 'durations', 'pricing'] as const;
const OF_IMAGES = ['provider', 'model', 'pricing'] as const;
const MAKERS = Object.values(providerKinds)
  .filter(({ capabilities }) => capabilities.makesMedia)
  .map(({ name }) => name)
  .join(' and ');

/** What no single key of these models shows. After the shape of the whole file. */
export function checkMediaModels(
  { videoModels, imageModels }: Pick<ConfigFile, 'videoModels' | 'imageModels'>,
  providers: readonly { id: string; kind: ProviderKind }[],
  document: ConfigDocument,
): ConfigProblem[] {
  return [
    ...repeatedIds(videoModels, 'videoModels', document),
    ...repeatedIds(imageModels, 'imageModels', document),
    ...videoModels.flatMap((file, index) => {
      // Without any of them it says something of an imported one.
      if (file.stopped || OF_VIDEOS.every((key) => file[key] === undefined)) return [];
      const missing = OF_VIDEOS.filter((key) => file[key] === undefined);
      const model = toVideoModel(file);
      const wrongPrice = model !== null && priced(model) === null ? 'says of no video what it costs' : null;
      return checkModel(file, ['videoModels', index], { missing, wrongPrice }, providers, document);
    }),
    ...imageModels.flatMap((file, index) => {
      if (file.stopped) return [];
      const missing = OF_IMAGES.filter((key) => file[key] === undefined);
      const model = toImageModel(file);
      const wrongPrice = model !== null && !isBounded(model) ? NO_BOUND : null;
      return checkModel(file, ['imageModels', index], { missing, wrongPrice }, providers, document);
    }),
  ];
}

const NO_BOUND =
  'has no bound, or is free: with the unit token, outputTokensMax and inputImageTokensMax are needed';

function checkModel(
  { provider }: { provider?: string | undefined },
  path: Path,
  { missing, wrongPrice }: { missing: readonly string[]; wrongPrice: string | null },
  providers: readonly { id: string; kind: ProviderKind }[],
  document: ConfigDocument,
): ConfigProblem[] {
  const problems = missing.map((key) => document.problem([...path, key], 'is missing'));
  if (provider === undefined) return problems;
  const found = providers.find(({ id }) => id === provider);
  if (found === undefined) {
    const ids = providers.map(({ id }) => id);
    problems.push(document.problem([...path, 'provider'], noProvider(provider, ids)));
  } else if (!found.kind.capabilities.makesMedia) {
    const message = `names a provider of kind ${found.kind.name}: only ${MAKERS} make videos and images`;
    problems.push(document.problem([...path, 'provider'], message));
  }
  if (wrongPrice !== null) problems.push(document.problem([...path, 'pricing'], wrongPrice));
  return problems;
}
