import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeVideo } from '../support/probe-video.ts';
import { type Block, openPasteTable, type PasteTable, readBlocks } from './pasted-blocks.ts';
import { installPython } from './python/install-python.ts';

/** What a new user pastes, in the order of the README. */
const readme = await readFile('README.md', 'utf8');
const between = (from: string, to: string) =>
  readBlocks(readme.slice(readme.indexOf(from), readme.indexOf(to)));
const blocks = between('### First call', '## How money works');
const accountBlocks = between('## Your account, by MCP', '## Operate it');

const installed = await installPython();
const missing = 'missing' in installed;
if (missing) console.warn(`\nSKIPPED: what the README says of Python packages. ${installed.missing}\n`);

let table: PasteTable;
beforeAll(async () => {
  table = await openPasteTable(installed);
  await writeFile(join(table.folder, 'picture.png'), 'a picture');
});
afterAll(() => table?.[Symbol.asyncDispose]());

const run = ({ language, source }: Block) =>
  table.run({
    language,
    source: source
      .replaceAll('picture.png', join(table.folder, 'picture.png'))
      .replaceAll('harbour.mp4', join(table.folder, 'harbour.mp4')),
  });

describe('a block of the README runs as pasted', () => {
  it('and there is one for each client', () => {
    expect(blocks.map(({ title, language }) => `${title} (${language})`)).toEqual([
      'First call (sh)',
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
      'Web search and fetch (sh)',
      'Pictures of your own (ts)',
      'Make pictures (sh)',
      'Make videos (ts)',
    ]);
  });

  it.for(blocks.map((block, index) => ({ ...block, index })))('$title ($index)', async (block, { skip }) => {
    const { title, language } = block;
    skip(language === 'python' && missing);
    const before = await table.chargedUsd();
    const { output, code, errors } = await run(block);
    expect([code, code === 0 ? '' : errors]).toEqual([0, '']);
    if (title === UPLOADS) {
      const link = /url: '([^']+\/files\/uploads\/[^']+)'/.exec(output)?.[1] ?? '';
      expect(await (await fetch(link)).text()).toBe('a picture');
      return;
    }
    if (title === PICTURES) {
      const links = JSON.parse(output).data.map((picture: { url: string }) => picture.url);
      expect(links).toHaveLength(2);
      for (const link of links) expect((await fetch(link)).headers.get('content-type')).toBe('image/png');
    } else if (title === VIDEOS) {
      const probed = await probeVideo(join(table.folder, 'harbour.mp4'));
      if (probed !== null) expect(probed).toMatchObject({ codec: 'h264', seconds: 2 });
    } else expect(output).toContain(SIMULATED);
    expect(await table.chargedUsd()).toBeGreaterThan(before);
  });
});

it('the account is read as pasted, by a host and in code', async () => {
  const told = await Promise.all(accountBlocks.map(run));
  expect(told).toMatchObject([
    { code: 0, output: expect.stringMatching(/faregate: .* Connected/) },
    { code: 0, output: expect.stringContaining('spendable_usd') },
  ]);
});

/** Calls no model. */
const UPLOADS = 'Pictures of your own';
const PICTURES = 'Make pictures';
const VIDEOS = 'Make videos';

/** Every text of the simulator says so. */
const SIMULATED = 'No model ran';
