import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPasteTable, type PasteTable, readBlocks } from './pasted-blocks.ts';
import { installPython } from './python/install-python.ts';

/** What a new user pastes: after `make run`, and the page of SDKs. */
const readme = await readFile('README.md', 'utf8');
const blocks = [
  ...readBlocks(readme.slice(readme.indexOf('## First call'))),
  ...readBlocks(await readFile('docs/sdks.md', 'utf8')),
];

const installed = await installPython();
const missing = 'missing' in installed;
if (missing) console.warn(`\nSKIPPED: what the README says of Python packages. ${installed.missing}\n`);

let table: PasteTable;
beforeAll(async () => {
  table = await openPasteTable(installed);
});
afterAll(() => table?.[Symbol.asyncDispose]());

describe('a block of the README runs as pasted', () => {
  it('and there is one for each client', () => {
    expect(blocks.map(({ title, language }) => `${title} (${language})`)).toEqual([
      'First call (sh)',
      'Use it with your SDK (python)',
      'curl (sh)',
      '`openai` for node (ts)',
      '`openai` for Python (python)',
      '`@anthropic-ai/sdk` for node (ts)',
      '`anthropic` for Python (python)',
      'Claude Code (sh)',
      '`@openrouter/sdk` (ts)',
      'AI SDK (ts)',
      'AI SDK (ts)',
      'AI SDK (ts)',
      'LangChain (ts)',
    ]);
  });

  it.for(blocks.map((block, index) => ({ ...block, index })))('$title ($index)', async (block, { skip }) => {
    skip(block.language === 'python' && missing);
    const before = await table.chargedUsd();
    const { output, code, errors } = await table.run(block);
    expect([code, code === 0 ? '' : errors]).toEqual([0, '']);
    expect(output).toContain(SIMULATED);
    expect(await table.chargedUsd()).toBeGreaterThan(before);
  });
});

/** Every text of the simulator says so. */
const SIMULATED = 'No model ran';
