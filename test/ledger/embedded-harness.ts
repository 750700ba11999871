import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type EmbeddedLedger, openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import type { Journal, OpenJournal } from '#core/ledger/embedded/journal.ts';
import { JournalError } from '#core/ledger/embedded/journal-errors.ts';
import { serializeAgent } from '#core/ledger/machine/agent-snapshot.ts';
import { OpenCallMap } from '#core/ledger/machine/open-call-map.ts';
import { isKept, RecentlySettled } from '#core/ledger/machine/recently-settled.ts';
import type { LedgerState } from '#core/ledger/machine/state.ts';
import type { Log } from '#core/log.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { type Row, START_MS, type World } from './case.ts';
import { openJournalHere } from './sqlite-journal-here.ts';

/** Until the test is over. An `afterEach` of this module would be one of the first file alone, as modules are loaded once for all. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'faregate-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface EmbeddedWorld extends World {
  ledger: EmbeddedLedger;
  dataDir: string;
  /** `[level, event]` of every line. */
  lines: [string, string][];
}

export interface EmbeddedOptions {
  dataDir?: string;
  clock?: FakeClock;
  openJournal?: OpenJournal;
}

export async function openWorld(options: EmbeddedOptions = {}): Promise<EmbeddedWorld> {
  const { dataDir = newFolder(), clock = createFakeClock(START_MS), openJournal = openJournalHere } = options;
  const lines: [string, string][] = [];
  const log = logInto(lines);
  const ledger = await openEmbeddedLedger({ dataDir, clock, log, openJournal });
  onTestFinished(() => ledger.close());
  return { ledger, clock, callIds: new Map(), dataDir, lines };
}

/** Closes and opens on the same folder, as a restart does. */
export async function restart(world: EmbeddedWorld): Promise<EmbeddedWorld> {
  await world.ledger.close();
  return openWorld({ dataDir: world.dataDir, clock: world.clock });
}

export function logInto(lines: [string, string][]): Log {
  return {
    info: (event) => lines.push(['info', event]),
    warn: (event) => lines.push(['warn', event]),
    error: (event) => lines.push(['error', event]),
  };
}

/** What a new process would find: the files as they are, while the ledger is at rest but not closed. */
export function copyFiles(world: Pick<EmbeddedWorld, 'dataDir'>): string {
  const copy = newFolder();
  for (const name of readdirSync(world.dataDir)) {
    if (/^ledger\.sqlite(-wal)?$/.test(name)) copyFileSync(join(world.dataDir, name), join(copy, name));
  }
  return copy;
}

/** Runs commands one after the other, each durable before the next. */
export async function run(world: World, ...rows: readonly Row[]): Promise<void> {
  for (const row of rows) await row(world);
}

/** The real journal, whose commits the test holds back or fails. */
export interface JournalTap {
  open: OpenJournal;
  /** Commits wait from now on. */
  hold(): void;
  release(): void;
  /** The next commit reaches the disk, or not, and is then reported as failed. */
  failNext(how: 'before' | 'after'): void;
  /** Opening fails this many times. */
  failOpening(times: number): void;
  /** The thread dies. */
  kill(): void;
  readonly openings: number;
  readonly batches: { firstSeq: number; lastSeq: number; agents: number; checkpointSeq: number | null }[];
}

export function createJournalTap(): JournalTap {
  let gate: PromiseWithResolvers<void> | null = null;
  let failing: 'before' | 'after' | null = null;
  let openingsToFail = 0;
  let openings = 0;
  let kill = () => {};
  const batches: JournalTap['batches'] = [];

  function tapped(journal: Journal): Journal {
    let dead: Error | null = null;
    return {
      head: () => journal.head(),
      readAgents: (after) => journal.readAgents(after),
      readEnded: (after, since) => journal.readEnded(after, since),
      readTail: (after) => journal.readTail(after),
      prune: (bounds) => journal.prune(bounds),
      history: journal.history,
      videos: journal.videos,
      close: () => journal.close(),
      async commit(batch) {
        const { firstSeq, lastSeq, agents, checkpointSeq } = batch;
        batches.push({ firstSeq, lastSeq, agents: agents.length, checkpointSeq });
        await gate?.promise;
        if (dead !== null) throw dead;
        const how = failing;
        failing = null;
        if (how !== 'before') await journal.commit(batch);
        if (how !== null) {
          dead = new Error('the disk is full');
          throw dead;
        }
      },
    };
  }

  return {
    batches,
    get openings() {
      return openings;
    },
    async open(path, events) {
      openings++;
      if (openingsToFail > 0) {
        openingsToFail--;
        throw new Error('the disk is full');
      }
      kill = () => events.onBroken(new JournalError('the thread died'));
      return tapped(await openJournalHere(path, events));
    },
    hold() {
      gate ??= Promise.withResolvers();
    },
    release() {
      gate?.resolve();
      gate = null;
    },
    failNext(how) {
      failing = how;
    },
    failOpening(times) {
      openingsToFail = times;
    },
    kill: () => kill(),
  };
}

/** Resolves once the condition holds, asked after every turn of the event loop. */
export async function until(condition: () => boolean, timeoutMs = 30_000): Promise<void> {
  const lastMs = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > lastMs) throw new Error('it did not come to be in time');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** All but leases, which are not journaled, and ended calls that no longer count. */
export function comparable(state: LedgerState, nowMs: number): string[] {
  return [...state.agents.values()]
    .sort((a, b) => a.agentId - b.agentId)
    .map((agent) => {
      const done = [...agent.done].filter(([, call]) => isKept(call, nowMs)).sort(([a], [b]) => a - b);
      const snapshot = serializeAgent({
        ...agent,
        leases: new OpenCallMap(),
        done: new RecentlySettled(done),
      });
      return snapshot.slice(snapshot.indexOf('"agent":'));
    });
}
