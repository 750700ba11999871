import { z } from 'zod';
import { checkCatalog } from '#core/catalog/check-catalog.ts';
import { MODEL_ID_CHARS_MAX } from '#core/limits.ts';
import type { AdminDeps } from '../context.ts';
import { adminExamples } from '../examples.ts';
import { CatalogCheck, CatalogReload, CatalogReport, shapeCatalog } from '../schemas/catalog-report.ts';
import { rowLimit } from '../schemas/values.ts';
import { audited, operatorProcedure, t } from '../trpc.ts';

const search = `text of at most ${MODEL_ID_CHARS_MAX} characters`;

export const catalogRouter = t.router({
  show: operatorProcedure({
    method: 'GET',
    path: '/catalog',
    operationId: 'showCatalog',
    tag: 'Catalogue',
    summary: 'Show providers, models and prices',
    description:
      'What is served now, through whom, and at which price. The limit applies to each list of models.',
    errors: ['invalid_request'],
    examples: { answer: adminExamples.catalog },
  })
    .input(
      z.strictObject({
        search: z
          .string({ error: search })
          .max(MODEL_ID_CHARS_MAX, { error: search })
          .optional()
          .meta({ description: 'Only models whose id holds this.' }),
        limit: rowLimit(),
      }),
    )
    .output(CatalogReport)
    .query(({ ctx, input }) =>
      shapeCatalog(ctx.deps.catalog, { search: input.search ?? '', limit: input.limit ?? MODEL_ROWS }),
    ),

  check: operatorProcedure({
    method: 'GET',
    path: '/catalog/check',
    operationId: 'checkCatalog',
    tag: 'Catalogue',
    summary: 'Check the catalogue',
    description: 'What does not work, and what is allowed but looks like a mistake.',
    errors: [],
    examples: { answer: { ok: true, problems: [], warnings: [] } },
  })
    .input(z.void())
    .output(CatalogCheck)
    .query(({ ctx }) => {
      const { config } = ctx.deps;
      const last = config.lastReload();
      const problems = [...(last === null || last.ok ? [] : [last.message]), ...listProblems(ctx.deps)];
      return { ok: problems.length === 0, problems, warnings: checkCatalog(config.current()) };
    }),

  reload: operatorProcedure({
    method: 'POST',
    path: '/catalog/reload',
    operationId: 'reloadCatalog',
    tag: 'Catalogue',
    summary: 'Reload the configuration and the lists of the providers',
    description:
      'Reads the file now instead of when it changes, then fetches the lists of the providers. Prices that jumped stay ' +
      'held back, unless `accept_prices` takes them.',
    errors: [],
    examples: {
      request: { accept_prices: true },
      answer: { ok: true, message: 'The configuration was reloaded.', needs_restart: [], problems: [] },
    },
  })
    .input(
      z.strictObject({
        accept_prices: z
          .boolean({ error: 'true or false' })
          .default(false)
          .meta({ description: 'Takes the prices that jumped, as the lists have them now.' }),
      }),
    )
    .use(audited)
    .output(CatalogReload)
    .mutation(async ({ ctx, input }) => {
      const { config, catalog } = ctx.deps;
      const { ok, message, needsRestart } = await config.reload();
      await (input.accept_prices ? catalog.acceptPrices() : catalog.refresh());
      return { ok, message, needs_restart: [...needsRestart], problems: listProblems(ctx.deps) };
    }),
});

const MODEL_ROWS = 50;

/** Providers whose list is missing, or is older than it should be because the newest attempt failed. */
function listProblems({ catalog }: Pick<AdminDeps, 'catalog'>): string[] {
  return catalog.status().flatMap(({ providerId, list, lastSuccessAtMs, lastError, heldBack }) => {
    if (heldBack.length > 0) {
      const ids = heldBack.slice(0, MODEL_ROWS).join(', ');
      return [
        `Prices of provider ${providerId} jumped and are held back; \`catalog reload\` takes them: ${ids}`,
      ];
    }
    const what = list === 'models' ? 'The list' : `The list of ${list}`;
    if (lastError !== null) return [`${what} of provider ${providerId} did not come: ${lastError.message}`];
    return lastSuccessAtMs === null ? [`${what} of provider ${providerId} has not come yet.`] : [];
  });
}
