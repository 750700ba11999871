import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestGateway } from '../support/gateway.ts';
import { type Check, type ClientWorld, type CompatClient, failed, type Transcript } from './client.ts';
import { clients } from './clients.ts';
import { writeClientsGuide } from './clients-guide.ts';
import {
  findMoneyFault,
  MODEL_KINDS,
  type ModelKind,
  modelIdOf,
  startCompatGateway,
} from './compat-gateway.ts';
import { packagesFolder } from './install-packages.ts';
import { type ClientResult, judge, readResults, writeResults } from './results.ts';
import { writeWorksWith } from './works-with.ts';

/*
 * Runs the named clients on the three kinds of model, stores what came of it in `results.json` and in the page made of it, and
 * fails when a check failed that no entry of `expected-failures.ts` explains, or passed although one says that it fails.
 */
const TRANSCRIPTS = resolve('.cache/compat/transcripts');

async function runClient(
  gateway: TestGateway,
  client: CompatClient,
  kind: ModelKind,
): Promise<readonly Check[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'faregate-compat-'));
  const paid = await gateway.newAgent({ creditUsd: '100' });
  const empty = await gateway.newAgent({ creditUsd: '0' });
  const home = join(scratch, 'home');
  const folder = join(scratch, 'work');
  await Promise.all([home, folder].map((path) => mkdir(path)));
  const lines: string[] = [];
  const transcript: Transcript = { add: (title, text) => void lines.push(`## ${title}\n\n${text}\n`) };
  const world: ClientWorld = {
    kind,
    modelId: modelIdOf(kind),
    origin: gateway.baseUrl.replace(/\/v1$/, ''),
    accounts: { paid: paid.key, empty: empty.key, wrongKey: `${paid.key.slice(0, -6)}AAAAAA` },
    home,
    folder,
    installed: client.packages === null ? resolve('.') : packagesFolder(client.packages),
    transcript,
    provider: gateway.provider,
  };
  try {
    const checks = await client.run(world);
    const fault = await findMoneyFault(gateway, paid);
    return fault === null ? checks : [...checks, failed('charges equal costs', fault)];
  } catch (error) {
    return [failed('runs', error instanceof Error ? error.message : String(error))];
  } finally {
    await mkdir(TRANSCRIPTS, { recursive: true });
    const file = join(TRANSCRIPTS, `${client.id}-${kind}.md`);
    await writeFile(file, lines.join('\n').replaceAll(scratch, '/scratch').replaceAll(paid.key, 'KEY'));
    await rm(scratch, { recursive: true, force: true });
  }
}

const results = await readResults();
await using gateway = await startCompatGateway();
let unexpected = 0;
for (const client of clients.filter(({ id }) => process.argv.includes(id))) {
  const byKind: Partial<Record<ModelKind, ClientResult>> = {};
  for (const kind of MODEL_KINDS) {
    const began = performance.now();
    const { result, surprises } = judge(client.id, kind, await runClient(gateway, client, kind));
    byKind[kind] = result;
    unexpected += surprises.length;
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    console.log(
      `${client.title}, ${kind}: ${result.passed} passed, ${result.failed.length} failed (${seconds} s)`,
    );
    for (const surprise of surprises) console.log(`  ${surprise}`);
  }
  results[client.id] = byKind;
  await writeResults(results);
}
await Promise.all([writeWorksWith(), writeClientsGuide()]);
if (unexpected > 0) {
  console.error(`${unexpected} checks ended otherwise than test/compat/expected-failures.ts says.`);
  process.exitCode = 1;
}
