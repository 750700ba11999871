import type { Command } from 'commander';
import { formatAttoUsd, parseAttoUsd } from '#core/money.ts';
import { CatalogCheck, CatalogReload, CatalogReport } from '../schemas/catalog-report.ts';
import { addExamples, type OpenContext, shortTime } from './cli-context.ts';
import { type Column, formatTable, type Paint } from './terminal.ts';

export function addCatalog(program: Command, open: OpenContext): void {
  const catalog = program.command('catalog').description('providers, models and prices');

  catalog
    .command('show [search]')
    .option('--limit <rows>', 'at most so many models of each kind', '50')
    .description('what is served, through whom, at which price: text, images and videos')
    .action(async (search: string | undefined, { limit }: { limit: string }) => {
      const { client, showAnswer } = open();
      showAnswer(await client.get(CatalogReport, '/catalog', { search, limit }), catalogLines);
    });

  catalog
    .command('check')
    .description(
      'what does not work, and what looks like a mistake; exit code 1 when something does not work',
    )
    .action(async () => {
      const { client, show, paint, fail } = open();
      const { raw, value } = await client.get(CatalogCheck, '/catalog/check');
      if (!value.ok) fail();
      show(raw, () => [
        ...value.problems.map((problem) => paint('red', problem)),
        ...value.warnings.map((warning) => paint('yellow', warning)),
        value.ok ? paint('green', 'Everything works.') : paint('red', 'Something does not work.'),
      ]);
    });

  catalog
    .command('reload')
    .description("read the configuration and the providers' lists now; exit code 1 when the file is wrong")
    .option('--yes', 'take prices that were held back without asking')
    .action(async ({ yes }: { yes?: true }) => {
      const { client, show, paint, fail, confirm } = open();
      const { value: before } = await client.get(CatalogReport, '/catalog', { limit: '1' });
      const held = before.providers.flatMap((each) => listsOf(each).flatMap(({ held_back }) => held_back));
      if (held.length > 0 && !yes) await confirm(heldQuestion(held));
      // What jumps only now was shown to nobody.
      const accept_prices = held.length > 0;
      const { raw, value } = await client.post(CatalogReload, '/catalog/reload', { accept_prices });
      if (!value.ok) fail();
      show(raw, () => [
        paint(value.ok ? 'green' : 'red', value.message),
        ...value.problems.map((problem) => paint('yellow', problem)),
      ]);
    });

  addExamples(catalog, {
    'catalog show small': 'models whose id holds "small"',
    'catalog check': 'after a change of the configuration',
    'catalog reload --yes': 'take the prices that were held back, too',
  });
}

function heldQuestion(held: readonly string[]): string {
  const named = held.slice(0, HELD_NAMED).join(', ');
  const more = held.length > HELD_NAMED ? ` and ${held.length - HELD_NAMED} more` : '';
  return `Prices jumped and are held back: ${named}${more}. A reload takes them, and callers pay them. Reload?`;
}

const HELD_NAMED = 5;

type Provider = CatalogReport['providers'][number];
type List = NonNullable<Provider['list']>;
type Offer = { id: string } & CatalogReport['models'][number]['endpoints'][number];
type MediaPrice = { id: string; provider: string; price: string };

const listsOf = ({ list, image_list, video_list }: Provider): List[] =>
  [list, image_list, video_list].flatMap((each) => each ?? []);

function catalogLines(report: CatalogReport, paint: Paint): string[] {
  const offers = report.models.flatMap(({ id, endpoints }) =>
    endpoints.map((endpoint) => ({ id, ...endpoint })),
  );
  const { models, image_models, video_models } = report;
  const found = report.models_found + report.image_models_found + report.video_models_found;
  const more = found - models.length - image_models.length - video_models.length;
  return [
    ...(report.stopped ? [paint('red', 'The gateway is stopped: it starts no calls.'), ''] : []),
    ...formatTable(report.providers, providerColumns, paint),
    '',
    ...formatTable<Offer>(offers, offerColumns, paint),
    ...mediaLines('IMAGE MODEL', image_models, imagePrice, paint),
    ...mediaLines('VIDEO MODEL', video_models, videoPrice, paint),
    ...(more > 0 ? ['', `And ${more} more: search for a part of the id, or give --limit.`] : []),
  ];
}

/** A row per price. None without a model: many gateways serve text alone. */
function mediaLines<Price>(
  title: string,
  models: readonly { id: string; provider: string; pricing: readonly Price[] }[],
  priceText: (price: Price) => string,
  paint: Paint,
): string[] {
  if (models.length === 0) return [];
  const prices = models.flatMap(({ id, provider, pricing }) =>
    pricing.map((price) => ({ id, provider, price: priceText(price) })),
  );
  const columns: Column<MediaPrice>[] = [
    { title, text: ({ id }) => id },
    { title: 'PROVIDER', text: ({ provider }) => provider },
    { title: 'PRICE', text: ({ price }) => price },
  ];
  return ['', ...formatTable(prices, columns, paint)];
}

function imagePrice({
  billable,
  unit,
  usd,
  variant,
}: CatalogReport['image_models'][number]['pricing'][number]): string {
  return `${variant === undefined ? billable : `${billable} ${variant}`} ${usd}/${unit}`;
}

/** The key says the unit, and where the price is in cents. */
const videoPrice = ({ key, price }: CatalogReport['video_models'][number]['pricing'][number]): string =>
  `${key} ${price}`;

const providerColumns: Column<Provider>[] = [
  { title: 'PROVIDER', text: ({ id }) => id },
  { title: 'KIND', text: ({ kind }) => kind },
  { title: 'KEY', text: ({ has_key }) => (has_key ? 'yes' : 'no') },
  {
    title: 'LIST',
    text: listsText,
    style: (provider) => (listsOf(provider).some(({ last_error }) => last_error) ? 'red' : null),
  },
  {
    title: 'STATUS',
    text: ({ stopped }) => (stopped ? 'stopped' : 'runs'),
    style: ({ stopped }) => (stopped ? 'red' : 'green'),
  },
];

function listsText({ list, image_list, video_list }: Provider): string {
  if (list === null) return 'not imported';
  return [
    listText(list, 'models'),
    ...mediaListText(image_list, 'image models'),
    ...mediaListText(video_list, 'video models'),
  ].join('; ');
}

/** Not of a provider that has no such models, and nothing to say of them. */
const mediaListText = (list: List | null, kind: string): string[] =>
  list === null || (list.served_models === 0 && list.last_error === null) ? [] : [listText(list, kind)];

function listText(list: List, kind: string): string {
  const models = `${list.served_models} ${kind} of ${shortTime(list.last_success_at)}`;
  const held = list.held_back.length === 0 ? '' : `, prices of ${list.held_back.length} held back`;
  return list.last_error === null ? models + held : `${models}${held}; ${list.last_error.message}`;
}

const offerColumns: Column<Offer>[] = [
  { title: 'MODEL', text: ({ id }) => id },
  { title: 'PROVIDER', text: ({ provider }) => provider },
  { title: 'PROMPT $/M', text: ({ prompt_usd }) => perMillion(prompt_usd), right: true },
  { title: 'OUTPUT $/M', text: ({ completion_usd }) => perMillion(completion_usd), right: true },
  { title: 'REQUEST $', text: ({ request_usd }) => request_usd, right: true },
];

function perMillion(perToken: string): string {
  const atto = parseAttoUsd(perToken);
  return atto === null ? '' : formatAttoUsd(atto * 1_000_000n);
}
