import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  DOCUMENT,
  type Generator,
  type GeneratorName,
  generateModels,
  generators,
  missingFor,
} from './generators.ts';

/** `make generators` tries all of them. */
const names = (Object.keys(generators) as GeneratorName[]).filter(
  (name) => process.env.GENERATORS === 'all' || !('isSlow' in generators[name]),
);

let gateway: TestGateway;
let folder: string;
beforeAll(async () => {
  gateway = await startTestGateway();
  await mkdir('.cache', { recursive: true });
  // Inside the checkout, where the types of Node are found.
  folder = await mkdtemp(join(process.cwd(), '.cache', 'generators-'));
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true });
});

describe.each(names)('the code that %s makes of the document', (name) => {
  const reason = missingFor(name);
  if (reason !== null) console.warn(`\nSKIPPED: the code that ${name} makes. ${reason}\n`);
  const generator: Generator = generators[name];

  it.skipIf(reason !== null)(
    'compiles as strictly as its language can, and calls the gateway for what the ledger charges',
    async () => {
      const made = join(folder, name);
      await mkdir(made);
      const [file, ...args] = await generator.prepare(made, gateway.baseUrl);
      const agent = await gateway.newAgent();
      const empty = await gateway.newAgent({ creditUsd: '0.000000001' });
      const env = {
        PATH: process.env.PATH,
        FAREGATE_URL: gateway.baseUrl,
        FAREGATE_KEY: agent.key,
        FAREGATE_EMPTY_KEY: empty.key,
      };
      const { stdout } = await promisify(execFile)(file, args, { cwd: made, env });
      const shown = JSON.parse(stdout);
      const answer = { text: expect.stringContaining('No model ran'), cost: expect.any(Number) };
      expect(shown).toEqual({
        models: expect.arrayContaining(['faregate-sim/small']),
        spendable_usd: '5',
        chat: answer,
        parts: answer,
        stream: { ...answer, done: true },
        refusal: { status: 402, code: 'insufficient_balance' },
      });
      const costs = [shown.chat, shown.parts, shown.stream].map(({ cost }) => BigInt(Math.round(cost * 1e9)));
      const { chargedNanoUsd } = await gateway.settled(agent);
      expect(costs.reduce((sum, cost) => sum + cost, 0n)).toBe(chargedNanoUsd);
    },
    600_000,
  );
});

it.skipIf(missingFor('datamodel-code-generator') !== null)(
  'every class that datamodel-code-generator makes has the name of a schema, and none is numbered',
  async () => {
    const made = join(folder, 'names');
    await mkdir(made);
    await generateModels(made);
    const text = await readFile(join(made, 'models.py'), 'utf8');
    const classes = [...text.matchAll(/^class (\w+)\(/gm)].map((match) => match[1]);
    const schemas = Object.keys(JSON.parse(await readFile(DOCUMENT, 'utf8')).components.schemas);
    expect(classes.toSorted()).toEqual(expect.arrayContaining(['Balance', 'Model', 'Message']));
    for (const name of classes) expect(schemas).toContain(name);
  },
);
