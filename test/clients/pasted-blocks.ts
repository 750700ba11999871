import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { compileCache } from '../support/compile-cache.ts';
import type { installPython } from './python/install-python.ts';

/** A block of code in a document. */
export interface Block {
  /** Of the section that it stands in. */
  title: string;
  language: string;
  /** What stands behind the language. */
  note: string;
  source: string;
}

export function readBlocks(markdown: string): Block[] {
  return markdown.split(/^##* /m).flatMap((section) => {
    const title = section.split('\n', 1)[0] ?? '';
    return [...section.matchAll(/^```(\w+)(.*)\n([\s\S]*?)^```/gm)].map(
      ([, language = '', note = '', source = '']) => ({ title, language, note: note.trim(), source }),
    );
  });
}

/** Where blocks are pasted: a gateway as `make run` starts it, and a folder of somebody who has just begun. */
export interface PasteTable extends AsyncDisposable {
  demo: z.infer<typeof demoFile>;
  folder: string;
  run(block: Pick<Block, 'language' | 'source'>): Promise<{ code: number; output: string; errors: string }>;
  /** The block with this gateway's address and folder. */
  adapt(source: string): string;
  /** Of the demo agent. */
  chargedUsd(): Promise<number>;
}

const demoFile = z.object({
  base_url: z.string(),
  mcp_url: z.string(),
  agent_id: z.int(),
  key: z.string(),
  admin_url: z.string(),
  admin_token: z.string(),
});

export async function openPasteTable(
  installed: Awaited<ReturnType<typeof installPython>>,
): Promise<PasteTable> {
  const folder = await mkdtemp(join(tmpdir(), 'faregate-pasted-'));
  // Inside the checkout, where the packages are found.
  await mkdir('.cache', { recursive: true });
  const scripts = await mkdtemp(join(process.cwd(), '.cache', 'pasted-'));
  const gateway = spawn(process.execPath, ['api/main.ts'], {
    env: { ...compileCache, PATH: process.env.PATH, PORT: '0', INTERNAL_PORT: '0', FAREGATE_DATA: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const chunk of gateway.stdout) if (String(chunk).includes('Try it')) break;
  gateway.stdout.resume();
  const demo = demoFile.parse(JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8')));
  const programs: Readonly<Record<string, string[]>> = {
    sh: ['sh', '-e'],
    ts: [process.execPath],
    ...('missing' in installed ? {} : { python: [installed.python] }),
  };
  let pasted = 0;

  const adapt = (source: string): string =>
    source
      .replaceAll('http://127.0.0.1:8080/v1', demo.base_url)
      .replaceAll('http://127.0.0.1:8080', demo.base_url.replace(/\/v1$/, ''))
      .replaceAll('.faregate/demo.json', join(folder, 'demo.json'));

  return {
    demo,
    folder,
    adapt,
    async run({ language, source }) {
      const [program, ...options] = programs[language] ?? [];
      if (program === undefined) throw new Error(`Nothing runs ${language}.`);
      pasted += 1;
      const file = join(scripts, `${pasted}.${language}`);
      await writeFile(file, adapt(source));
      const child = spawn(program, [...options, file], {
        stdio: ['ignore', 'pipe', 'pipe'],
        // Nothing of this machine's settings.
        env: {
          ...compileCache,
          PATH: [join(process.cwd(), 'node_modules/.bin'), process.env.PATH].join(delimiter),
          HOME: folder,
          KEY: demo.key,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_AUTOUPDATER: '1',
        },
      });
      const ended = once(child, 'exit');
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const [code] = await ended;
      return { code, output, errors };
    },
    async chargedUsd() {
      const res = await fetch(`${demo.base_url}/balance`, { headers: { 'x-api-key': demo.key } });
      const { balance_usd: balance } = z.object({ balance_usd: z.string() }).parse(await res.json());
      return 5 - Number(balance);
    },
    async [Symbol.asyncDispose]() {
      const ended = once(gateway, 'exit');
      gateway.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true });
      await rm(scripts, { recursive: true });
    },
  };
}
