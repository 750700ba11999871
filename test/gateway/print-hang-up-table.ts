import type { ProviderCancel } from '#core/catalog/catalog.ts';
import { formatUsd } from '#core/money.ts';
import { FORMATS } from '../formats/requests.ts';
import { until } from '../support/gateway.ts';
import {
  CHUNK_TOKENS,
  CHUNKS,
  costNanoUsd,
  type HangUpWorld,
  KINDS,
  type Kind,
  keepsRecords,
  startHangUpWorld,
} from '../support/hang-up-world.ts';

/*
 * `node test/gateway/print-hang-up-table.ts`: callers who leave after k of n chunks, by kind of provider: what the provider had
 * written, what it would bill, what the caller paid, and how long the provider's connection lived on. Markdown.
 * `test/gateway/hang-up-money.test.ts` holds the money of every cell.
 */

interface Row {
  wroteTokens: number;
  billedNanoUsd: bigint;
  /** Of every format, streamed and not. */
  paid: bigint[];
  closedAfterMs: number[];
}

async function hangUps(world: HangUpWorld, kind: Kind, cancel: ProviderCancel, k: number): Promise<Row> {
  const agent = await world.gateway.newAgent({ creditUsd: '10' });
  const row: Row = { wroteTokens: 0, billedNanoUsd: 0n, paid: [], closedAfterMs: [] };
  let before = 0n;
  for (const format of FORMATS) {
    for (const stream of [true, false]) {
      const { answer, read, hangUp } = await world.call(kind, format, { stream, agent });
      if (answer.isStream) {
        await answer.writeTo(k);
        await read();
      }
      const leftAtMs = hangUp();
      if (cancel === 'bills_full') {
        await until(() => world.gateway.running.deps.gateway.openCalls.usageDrains > 0);
        await answer.finish();
      }
      await answer.closed;
      row.closedAfterMs.push((answer.closedAtMs ?? Number.NaN) - leftAtMs);
      row.wroteTokens = answer.chunks * CHUNK_TOKENS;
      row.billedNanoUsd = costNanoUsd(answer.chunks);
      const { chargedNanoUsd } = await world.gateway.settled(agent);
      row.paid.push(chargedNanoUsd - before);
      before = chargedNanoUsd;
    }
  }
  return row;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const least = (values: readonly bigint[]): bigint => values.reduce((a, b) => (b < a ? b : a));
const most = (values: readonly bigint[]): bigint => values.reduce((a, b) => (b > a ? b : a));
const range = (values: readonly bigint[]): string =>
  least(values) === most(values)
    ? formatUsd(least(values))
    : `${formatUsd(least(values))} to ${formatUsd(most(values))}`;

async function printTable(cancel: ProviderCancel, everyK: readonly number[]): Promise<void> {
  await using world = await startHangUpWorld(cancel);
  console.log(`\n### \`cancel: ${cancel}\`, ${CHUNKS} chunks of ${CHUNK_TOKENS} tokens\n`);
  console.log('Six calls a row: three formats, streamed and not.\n');
  console.log(
    '| k of n | provider | wrote, tokens | provider bills, $ | caller paid, $ | priced by | closed after, median ms |',
  );
  console.log('|---|---|---|---|---|---|---|');
  const closedAfterMs: number[] = [];
  for (const k of everyK) {
    for (const kind of KINDS) {
      const row = await hangUps(world, kind, cancel, k);
      closedAfterMs.push(...row.closedAfterMs);
      const by = cancel === 'bills_full' ? 'usage' : keepsRecords(kind) ? 'record' : 'what was read';
      const cells = [
        `${k} of ${CHUNKS}`,
        kind,
        row.wroteTokens,
        formatUsd(row.billedNanoUsd),
        range(row.paid),
        by,
        median(row.closedAfterMs).toFixed(2),
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
  }
  const end = cancel === 'bills_full' ? 'end of the whole answer' : "close of the provider's connection";
  console.log(
    `\n${closedAfterMs.length} hang-ups; from the hang-up to the ${end}: median ${median(closedAfterMs).toFixed(2)} ms, longest ${Math.max(...closedAfterMs).toFixed(2)} ms.`,
  );
}

await printTable(
  'stops_billing',
  Array.from({ length: CHUNKS }, (_, k) => k),
);
await printTable('bills_full', [0, 6, CHUNKS - 1]);
// The gateway's modules keep timers of their own.
process.exit(0);
