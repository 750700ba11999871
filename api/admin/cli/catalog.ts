import type { Command } from 'commander';
import { formatAttoUsd, parseAttoUsd } from '#core/money.ts';
import { CatalogCheck, CatalogReload, CatalogReport } from '../schemas/catalog-report.ts';
import { type OpenContext, shortTime } from './cli-context.ts';
import { addExamples } from './help.ts';
import { type Column, formatTable } from './table.ts';
import type { Paint } from './terminal.ts';

export function addCatalog(program: Command, open: OpenContext): void {
  const catalog = program.command('catalog').description('providers, models and prices');

  catalog
    .command('show [search]')
    .option('--limit <rows>', 'at most so many models', '50')
    .description('what is served, through whom, at which price per million tokens')
    .action(async (search: string | undefined, { limit }: { limit: string }) => {
      const { client, show, paint } = open();
      const { raw, value } = await client.get(CatalogReport, '/catalog', { search, limit });
      show(raw, () => catalogLines(value, paint));
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
      const held = before.providers.flatMap(({ list }) => list?.held_back ?? []);
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
type Offer = { id: string } & CatalogReport['models'][number]['endpoints'][number];

function catalogLines(report: CatalogReport, paint: Paint): string[] {
  const offers = report.models.flatMap(({ id, endpoints }) =>
    endpoints.map((endpoint) => ({ id, ...endpoint })),
  );
  const more = report.models_found - report.models.length;
  return [
    ...(report.stopped ? [paint('red', 'The gateway is stopped: it starts no calls.'), ''] : []),
    ...formatTable(report.providers, providerColumns, paint),
    '',
    ...formatTable<Offer>(offers, offerColumns, paint),
    ...(more > 0 ? ['', `And ${more} more: search for a part of the id, or give --limit.`] : []),
  ];
}

const providerColumns: Column<Provider>[] = [
  { title: 'PROVIDER', text: ({ id }) => id },
  { title: 'KIND', text: ({ kind }) => kind },
  { title: 'KEY', text: ({ has_key }) => (has_key ? 'yes' : 'no') },
  { title: 'LIST', text: listText, style: ({ list }) => (list?.last_error ? 'red' : null) },
  {
    title: 'STATUS',
    text: ({ stopped }) => (stopped ? 'stopped' : 'runs'),
    style: ({ stopped }) => (stopped ? 'red' : 'green'),
  },
];

function listText({ list }: Provider): string {
  if (list === null) return 'not imported';
  const models = `${list.served_models} models of ${shortTime(list.last_success_at)}`;
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
