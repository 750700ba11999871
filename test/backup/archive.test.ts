import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ArchiveHeader } from '#core/backup/archive-lines.ts';
import { type ArchiveVisitor, readArchive } from '#core/backup/read-archive.ts';
import { writeArchive } from '#core/backup/write-archive.ts';
import { serializeAgent } from '#core/ledger/machine/agent-snapshot.ts';
import { newAgent } from '#core/ledger/machine/empty-ledger.ts';
import type { AgentState } from '#core/ledger/machine/state.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import { START_MS } from '../ledger/case.ts';
import { videoFile } from '../ledger/commands.ts';
import { newFolder } from '../ledger/embedded-harness.ts';
import { callOf } from './call-of.ts';

const header: ArchiveHeader = { madeAtMs: START_MS, shape: 'embedded', peppers: [] };
const agents: AgentState[] = [1, 2, 3].map((agentId) => ({
  ...newAgent(agentId, `agent ${agentId}`, START_MS),
  version: 10 * agentId,
}));
const calls = [callOf(1, 5), callOf(1, 7), callOf(2, 6)];
const videos: VideoJob[] = [1, 2].map((n) => ({
  videoId: `vid_${n}`,
  agentId: 2,
  keyId: 1,
  callId: 60 + n,
  idempotencyKey: n === 1 ? null : 'my-order',
  model: 'acme/film',
  providerId: 'simulator',
  upstreamModel: 'film',
  orderFile: 'orders/1',
  estimatedNanoUsd: 9_000_000_000_000_000n,
  createdAtMs: START_MS,
  claim: { nonce: 'worker-1', atMs: START_MS },
  submitted: n === 1 ? null : { providerJobId: 'job-1', atMs: START_MS },
  end:
    n === 1
      ? { atMs: START_MS, chargedNanoUsd: 0n, errorCode: 'timed_out', file: null }
      : { atMs: START_MS, chargedNanoUsd: 5n, errorCode: null, file: videoFile },
}));

let file = '';
let lines: string[] = [];

beforeEach(async () => {
  file = join(newFolder(), 'backup');
  await writeArchive(file, { header, entries: entries(), lastAtMs: () => START_MS });
  lines = gunzipSync(readFileSync(file)).toString().split('\n').slice(0, -1);
});

async function* entries() {
  for (const agent of agents) yield { agent, calls: callsOf(agent.agentId), videos: videosOf(agent.agentId) };
}

async function* callsOf(agentId: number) {
  for (const call of calls) if (call.agentId === agentId) yield [call];
}

async function* videosOf(agentId: number) {
  for (const video of videos) if (video.agentId === agentId) yield [video];
}

/** As it would be if this had been written, with an end that fits, unless it is told to stay. */
function rewrite(changed: string[], { sound = false } = {}): void {
  const body = changed.slice(0, -1);
  const sha256 = createHash('sha256')
    .update(body.map((line) => `${line}\n`).join(''))
    .digest('base64url');
  const end = changed.at(-1) ?? '';
  const last = sound ? end.replace(/"sha256":"[^"]*"/, `"sha256":"${sha256}"`) : end;
  writeFileSync(file, gzipSync([...body, last].map((line) => `${line}\n`).join('')));
}

test('an archive gives back every agent and call, in order, and what they come to', async () => {
  const seen: (string | VideoJob)[] = [];
  const visitor: ArchiveVisitor = {
    onAgent: (agent) => void seen.push(serializeAgent(agent)),
    onCall: (call) => void seen.push(`${call.agentId} ${call.callId}`),
    onVideo: (video) => void seen.push(video),
  };
  const contents = await readArchive(file, visitor);
  const [a, b, c] = agents.map(serializeAgent);
  expect(seen).toEqual([a, '1 5', '1 7', b, '2 6', ...videos, c]);
  expect(contents).toMatchObject({ header, agents: 3, calls: 3, lastSeq: 60, lastAtMs: START_MS });
});

test('what its reader throws comes out as it is', async () => {
  const mine = new Error('the disk is full');
  const onAgent = () => Promise.reject(mine);
  await expect(readArchive(file, { onAgent, onCall: () => {}, onVideo: () => {} })).rejects.toBe(mine);
});

describe('refused with a sentence is', () => {
  const refused = (sentence: RegExp) => expect(readArchive(file)).rejects.toThrow(sentence);

  test('a file that is not there', async () => {
    file = join(newFolder(), 'backup');
    await refused(/^There is no file .*backup\.$/);
  });

  test('a folder', async () => {
    file = newFolder();
    await refused(/cannot be read \(EISDIR\)/);
  });

  test.each([
    ['an empty file', () => Buffer.alloc(0), /is damaged or cut off/],
    ['a text', () => Buffer.from('agents: []\n'), /is no backup of Faregate/],
    ['a database', () => Buffer.from('SQLite format 3\0'), /is no backup of Faregate/],
    ['another gzip file', () => gzipSync('{"a":1}\n'), /is no backup of Faregate/],
    ['another gzip file of lines', () => gzipSync('a,b\nc,d\n'), /is no backup of Faregate/],
    ['a gzip file of one endless line', () => gzipSync('x'.repeat(100_000)), /is no backup|damaged/],
  ])('%s', async (_, bytes, sentence) => {
    writeFileSync(file, bytes());
    await refused(sentence);
  });

  test('one of a newer release, which is told from a damaged one', async () => {
    rewrite([(lines[0] ?? '').replace('"v":2', '"v":3,"more":true'), ...lines.slice(1)], { sound: true });
    await refused(/newer release: its format is 3, and this release reads 2/);
  });

  test('one that is cut anywhere', async () => {
    const whole = readFileSync(file);
    for (let bytes = 1; bytes < whole.length; bytes += 7) {
      writeFileSync(file, whole.subarray(0, bytes));
      await refused(/is damaged or cut off|is no backup/);
    }
    for (let kept = 1; kept < lines.length; kept++) {
      writeFileSync(file, gzipSync(lines.slice(0, kept).join('\n')));
      await refused(/is damaged or cut off/);
      writeFileSync(file, gzipSync(`${lines.slice(0, kept).join('\n')}\n`));
      await refused(/is damaged or cut off/);
    }
  });

  test('one with any byte changed', async () => {
    const whole = readFileSync(file);
    // A gzip header's time, flags and system say nothing of what is in it.
    for (let at = 10; at < whole.length; at += 5) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      writeFileSync(file, changed);
      await refused(/is damaged or cut off|is no backup|newer release/);
    }
  });

  test('one whose text was changed, though gzip is content', async () => {
    for (const [at, line] of lines.entries()) {
      rewrite(
        lines.with(
          at,
          line.replace(/(\d)(?=[,}])/, (digit) => String((Number(digit) + 1) % 10)),
        ),
      );
      await refused(/is damaged or cut off|newer release|is no backup/);
    }
  });

  test.each<[string, (lines: string[]) => string[]]>([
    ['an agent twice', (all) => all.toSpliced(3, 0, all[1] ?? '')],
    ['an agent too few', (all) => all.toSpliced(6, 1)],
    ['a call too few', (all) => all.toSpliced(2, 1)],
    ['a call that is not behind its agent', (all) => all.toSpliced(2, 1).toSpliced(4, 0, all[2] ?? '')],
    ['a line of another kind', (all) => all.toSpliced(2, 0, '{"video":{}}')],
    ['a line of no JSON', (all) => all.toSpliced(2, 0, 'x')],
    ['a second end', (all) => [...all, all.at(-1) ?? '']],
    ['lines behind its end', (all) => [...all, all[1] ?? '']],
    [
      'an end of another ledger',
      (all) => all.with(-1, (all.at(-1) ?? '').replace('"lastSeq":60', '"lastSeq":61')),
    ],
  ])('one with %s', async (_, change) => {
    rewrite(change(lines), { sound: true });
    await refused(/is damaged or cut off behind line \d+: ./);
  });
});
