import { type Command, Option } from 'commander';
import { z } from 'zod';
import { NewOperatorKey, OperatorKey } from '../schemas/key-record.ts';
import { addExamples, dollars, type OpenContext, parseId, shortTime } from './cli-context.ts';
import { CliError, exitCodes, usageError } from './cli-error.ts';
import type { GatewayClient } from './gateway-client.ts';
import { formatFacts, formatTable, type Paint } from './terminal.ts';

const keyList = z.object({ keys: z.array(OperatorKey) });

export function addKeys(program: Command, open: OpenContext): void {
  const keys = program.command('keys').description("agents' API keys");
  addKeysCreate(keys, open);
  addKeysList(keys, open);
  addKeysUpdate(keys, open);
  addKeysRevoke(keys, open);
  addExamples(keys, {
    'keys create 2 laptop': 'a key that may also manage keys',
    "keys create 2 'web shop' --limit-usd 5 --reset daily": 'at most five dollars a day',
    'keys list 2': 'what each has spent this month',
    'keys update 2 244335062519810 --limit-usd 20 --reset daily': 'today, too, with what it has spent',
    'keys revoke 2 244335062519810 --yes': 'from a script',
  });
}

function addKeysCreate(keys: Command, open: OpenContext): void {
  keys
    .command('create')
    .argument('<agent>', 'its id', parseId)
    .argument('<label>', 'one line, for recognition')
    .option('--limit-usd <usd>', 'spending limit per period; without it the key may manage keys')
    .addOption(resetOption())
    .description('make a key; its secret is shown once')
    .action(async (id: string, label: string, options: LimitOptions) => {
      const { client, show, paint } = open();
      const { raw, value } = await client.post(NewOperatorKey, `/agents/${id}/keys`, {
        label,
        spending_limit: limitOf(options) ?? null,
      });
      show(raw, () => [
        ...formatFacts(
          [
            ['Key', value.key],
            ['Id', String(value.id)],
            ['Label', value.label],
            ['Limit', limitText(value)],
          ],
          paint,
        ),
        '',
        'Keep the key now: it is not shown again.',
      ]);
    });
}

function addKeysList(keys: Command, open: OpenContext): void {
  keys
    .command('list')
    .argument('<agent>', 'its id', parseId)
    .description("an agent's keys, revoked ones too")
    .action(async (id: string) => {
      const { client, showAnswer } = open();
      const answer = await client.get(keyList, `/agents/${id}/keys`);
      showAnswer(answer, (list, paint) => formatTable(list.keys, columns, paint));
    });
}

function addKeysUpdate(keys: Command, open: OpenContext): void {
  keys
    .command('update')
    .argument('<agent>', 'its id', parseId)
    .argument('<key>', "the key's id", parseId)
    .option('--label <label>', 'one line, for recognition')
    .option('--limit-usd <usd>', 'spending limit per period; it counts what was spent in its period before')
    .addOption(resetOption())
    .option('--no-limit', 'take its spending limit away; the key may then manage keys')
    .option('--yes', 'take the limit away without asking')
    .description("change a key's label, its spending limit, or both")
    .action(async (id: string, keyId: string, { label, limit, yes, ...options }: UpdateOptions) => {
      const { client, showAnswer, confirm } = open();
      const given = limitOf(options);
      if (!limit && given !== undefined) throw usageError('Give --limit-usd or --no-limit, not both.');
      const spending_limit = limit ? given : null;
      if (label === undefined && spending_limit === undefined) {
        throw usageError('Say what to change: --label, --limit-usd with --reset, or --no-limit.');
      }
      if (!limit && !yes) {
        const key = await findKey(client, id, keyId);
        await confirm(
          `Take the limit of key ${keyId} (${key.label}, ${key.prefix}…) away? It can then spend all of the agent's credit.`,
        );
      }
      const change = { label, spending_limit };
      showAnswer(await client.post(OperatorKey, `/agents/${id}/keys/${keyId}/update`, change), keyLines);
    });
}

function addKeysRevoke(keys: Command, open: OpenContext): void {
  keys
    .command('revoke')
    .argument('<agent>', 'its id', parseId)
    .argument('<key>', "the key's id", parseId)
    .option('--yes', 'do not ask')
    .description('the key stops on its next call; running calls finish')
    .action(async (id: string, keyId: string, { yes }: { yes?: true }) => {
      const { client, showAnswer, confirm } = open();
      if (!yes) {
        const key = await findKey(client, id, keyId);
        await confirm(`Revoke key ${keyId} (${key.label}, ${key.prefix}…)?`);
      }
      showAnswer(await client.post(OperatorKey, `/agents/${id}/keys/${keyId}/revoke`), keyLines);
    });
}

interface LimitOptions {
  limitUsd?: string;
  reset?: string;
}

interface UpdateOptions extends LimitOptions {
  label?: string;
  /** False with `--no-limit`. */
  limit: boolean;
  yes?: true;
}

const resetOption = () =>
  new Option('--reset <period>', 'of the limit').choices(['daily', 'weekly', 'monthly']);

function limitOf({ limitUsd: usd, reset }: LimitOptions) {
  if ((usd === undefined) !== (reset === undefined)) {
    throw usageError('A spending limit needs both --limit-usd and --reset.');
  }
  return usd === undefined ? undefined : { usd, reset };
}

async function findKey(client: GatewayClient, agentId: string, keyId: string): Promise<OperatorKey> {
  const { value } = await client.get(keyList, `/agents/${agentId}/keys`);
  const key = value.keys.find((each) => String(each.id) === keyId);
  if (key === undefined) throw new CliError(exitCodes.refused, `Agent ${agentId} has no key ${keyId}.`);
  return key;
}

const keyLines = (key: OperatorKey, paint: Paint): string[] => formatTable([key], columns, paint);

const limitText = ({ spending_limit: limit }: Pick<OperatorKey, 'spending_limit'>): string =>
  limit === null ? 'none' : `${dollars(limit.limit_usd)} ${limit.reset}`;

const columns = [
  { title: 'ID', text: (key: OperatorKey) => String(key.id), right: true as const },
  { title: 'LABEL', text: (key: OperatorKey) => key.label },
  { title: 'PREFIX', text: (key: OperatorKey) => key.prefix },
  { title: 'LIMIT', text: limitText },
  { title: 'THIS MONTH', text: (key: OperatorKey) => dollars(key.month_usd), right: true as const },
  { title: 'LAST USED', text: (key: OperatorKey) => shortTime(key.last_used_at) },
  {
    title: 'STATUS',
    text: (key: OperatorKey) => (key.revoked_at === null ? 'active' : `revoked ${shortTime(key.revoked_at)}`),
    style: (key: OperatorKey) => (key.revoked_at === null ? ('green' as const) : ('dim' as const)),
  },
];
