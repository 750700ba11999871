import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CLIENT_GROUPS, type CompatClient } from './client.ts';
import { clients } from './clients.ts';
import { MODEL_KINDS, type ModelKind } from './compat-gateway.ts';
import { pinnedVersion } from './install-packages.ts';
import { type ClientResult, expectationFor, type Results, readResults } from './results.ts';

export const WORKS_WITH = resolve(import.meta.dirname, '../../docs/guides/works-with.md');

export async function writeWorksWith(): Promise<void> {
  await writeFile(WORKS_WITH, makeWorksWith(await readResults()));
}

/** Whether the page says what the stored results say. */
export const isWorksWithFresh = async (): Promise<boolean> =>
  (await readFile(WORKS_WITH, 'utf8')) === makeWorksWith(await readResults());

const HEAD = `# Works with

Programs of other people, unchanged, against this gateway. Each was run on three kinds of model: **native** (its provider speaks all three
formats), **chat-only** (a provider of the kind \`openai\`, so responses and messages are translated) and **messages-only** (a provider of the
kind \`anthropic\`). Behind the gateway stands its own simulator, whose model calls the tools that it is offered; nothing but loopback can be
reached. After each run the charges must equal what the calls cost, to the nano-dollar, with nothing held. [Clients](clients.md) has the
configuration of each coding agent.

This page is written by \`make compat\`, which runs all of it. A cell is the number of checks that passed of those that ran.
`;

const SPEAKS = `A coding agent does a task in two steps with its tools (it writes a file, and reads it back), and shows its user why a wrong key,
an account without credit and an unknown model are refused. A library does a task of two tools, whole and streamed, and shows the
refusals. A suite has checks of its own; for suites that no registry of packages has,
the cases are ours.
`;

export function makeWorksWith(results: Results): string {
  const notes: string[] = [];
  const sections = CLIENT_GROUPS.map((group) => {
    const rows = clients
      .filter((client) => client.group === group)
      .map((client) => rowOf(client, results, notes));
    return `## ${group}\n\n| client | version | formats | ${MODEL_KINDS.join(' | ')} |\n| --- | --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
  });
  const reasons = notes.map((reason, index) => `${index + 1}. ${reason}\n`).join('');
  const failures = reasons === '' ? '' : `## What does not pass, and why\n\n${reasons}`;
  return [HEAD, SPEAKS, ...sections, ...(failures === '' ? [] : [failures])].join('\n');
}

function rowOf(client: CompatClient, results: Results, notes: string[]): string {
  const cells = MODEL_KINDS.map((kind) => {
    const result = results[client.id]?.[kind];
    return result === undefined ? 'not run' : cellOf(client.id, kind, result, notes);
  });
  const version = client.versionOf === null ? 'ours' : pinnedVersion(client.packages, client.versionOf);
  return `| ${client.title} | ${version} | ${client.speaks} | ${cells.join(' | ')} |`;
}

function cellOf(client: string, kind: ModelKind, { passed, failed }: ClientResult, notes: string[]): string {
  const numbers = new Set<string>();
  for (const check of failed) {
    const reason =
      expectationFor(client, kind, check)?.reason ??
      `\`${check}\` of \`${client}\` fails without a known reason.`;
    if (!notes.includes(reason)) notes.push(reason);
    numbers.add(`[${notes.indexOf(reason) + 1}]`);
  }
  const marks = [...numbers].join('');
  return `${passed} of ${passed + failed.length}${marks === '' ? '' : ` ${marks}`}`;
}
