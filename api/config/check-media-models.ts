import { isBounded } from '#core/catalog/import-image-endpoint.ts';
import { priced } from '#core/catalog/import-video-models.ts';
import { createNearestNames } from '#core/catalog/nearest-names.ts';
import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { providerKinds } from '../providers/provider-kinds.ts';
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
    ...repeated(videoModels, 'videoModels', document),
    ...repeated(imageModels, 'imageModels', document),
    ...videoModels.flatMap((file, index) => {
      const path = ['videoModels', index];
      // Without any of them it says something of an imported one.
      if (file.stopped || OF_VIDEOS.every((key) => file[key] === undefined)) return [];
      const missing = OF_VIDEOS.flatMap((key) => (file[key] === undefined ? [key] : []));
      const problems = checkPlace(file, missing, path, providers, document);
      const model = toVideoModel(file);
      if (model !== null && priced(model) === null) {
        problems.push(document.problem([...path, 'pricing'], 'says of no video what it costs'));
      }
      return problems;
    }),
    ...imageModels.flatMap((file, index) => {
      const path = ['imageModels', index];
      if (file.stopped) return [];
      const missing = OF_IMAGES.flatMap((key) => (file[key] === undefined ? [key] : []));
      const problems = checkPlace(file, missing, path, providers, document);
      const model = toImageModel(file);
      if (model !== null && !isBounded(model)) {
        const message =
          'has no bound, or is free: with the unit token, outputTokensMax and inputImageTokensMax are needed';
        problems.push(document.problem([...path, 'pricing'], message));
      }
      return problems;
    }),
  ];
}

function repeated(files: readonly { id: string }[], list: string, document: ConfigDocument): ConfigProblem[] {
  return files.flatMap(({ id }, index) =>
    files.findIndex((each) => each.id === id) < index
      ? [document.problem([list, index, 'id'], 'stands twice in this list')]
      : [],
  );
}

function checkPlace(
  { provider }: { provider?: string | undefined },
  missing: readonly string[],
  path: Path,
  providers: readonly { id: string; kind: ProviderKind }[],
  document: ConfigDocument,
): ConfigProblem[] {
  const problems = missing.map((key) => document.problem([...path, key], 'is missing'));
  if (provider === undefined) return problems;
  const found = providers.find(({ id }) => id === provider);
  if (found === undefined) {
    const [nearest] = createNearestNames(providers.map(({ id }) => id))(provider);
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    problems.push(document.problem([...path, 'provider'], `names no provider of this configuration${hint}`));
  } else if (!found.kind.capabilities.makesMedia) {
    const message = `names a provider of kind ${found.kind.name}: only ${MAKERS} make videos and images`;
    problems.push(document.problem([...path, 'provider'], message));
  }
  return problems;
}
