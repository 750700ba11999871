import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { modelOf, PROVIDER_KINDS, startFormatGateway } from '../formats/format-gateway.ts';
import { askedIn, ruleFor } from '../formats/requests.ts';
import { compileCache } from '../support/compile-cache.ts';
import type { TestAgent, TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';

let gateway: TestGateway;
let folder: string;
beforeAll(async () => {
  gateway = await startFormatGateway();
  folder = await mkdtemp(join(tmpdir(), 'faregate-claude-'));
});
afterAll(async () => {
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => gateway.provider.reset());

const CLI = join(process.cwd(), 'node_modules/@anthropic-ai/claude-code/cli.js');
const told = z.object({ is_error: z.boolean(), result: z.string(), num_turns: z.int() });

/** Claude Code without a person, and with nothing of this machine's: neither its settings nor its keys. */
async function claude(agent: TestAgent, model: string, prompt: string) {
  const child = spawn(process.execPath, [CLI, '-p', prompt, '--output-format', 'json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...compileCache,
      PATH: process.env.PATH,
      HOME: folder,
      ANTHROPIC_BASE_URL: gateway.baseUrl.replace(/\/v1$/, ''),
      ANTHROPIC_AUTH_TOKEN: agent.key,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
    },
  });
  const ended = once(child, 'exit');
  const output = await text(child.stdout);
  await ended;
  return told.parse(JSON.parse(output));
}

describe.each(PROVIDER_KINDS)('Claude Code on a model whose provider speaks %s', (kind) => {
  const model = modelOf[kind];

  it('runs two of its tools at once, and tells the answer', async () => {
    const agent = await gateway.newAgent();
    const toolCalls = await Promise.all(
      ['lion', 'tiger'].map(async (animal) => {
        const file = join(folder, `${animal}.txt`);
        await writeFile(file, `The ${animal} sleeps tonight.`);
        return { name: 'Read', argumentsJson: JSON.stringify({ file_path: file }) };
      }),
    );
    gateway.provider.next(ruleFor(kind, 'messages', { text: 'I look.', toolCalls }));
    gateway.provider.next(ruleFor(kind, 'messages', { text: 'Both sleep.' }));
    const { result, is_error: isError } = await claude(agent, model, 'Who sleeps?');
    expect([result, isError]).toEqual(['Both sleep.', false]);
    const sent = gateway.provider.lastRequest(pathOf(askedIn(kind, 'messages'))).body.toString();
    expect(sent).toContain('The lion sleeps tonight.');
    expect(sent).toContain('The tiger sleeps tonight.');
    expect((await gateway.settled(agent)).chargedNanoUsd).toBeGreaterThan(0n);
    expect((await gateway.calls(agent)).map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
  });

  it('shows why it was refused', async () => {
    const agent = await gateway.newAgent({ creditUsd: '0' });
    const { result, is_error: isError } = await claude(agent, model, 'Who sleeps?');
    expect(isError).toBe(true);
    expect(result).toContain('is spendable');
  });
});
