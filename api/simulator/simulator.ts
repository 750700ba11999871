import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Clock, SECOND_MS, systemClock } from '#core/clock.ts';
import { httpOrigin } from '#core/http-origin.ts';
import { type BillBook, type BilledCall, createBillBook } from './bill-book.ts';
import { CallRunner } from './call-runner.ts';
import type { Dialect } from './chat-render.ts';
import { createVideoBook, type SimVideoJob } from './media/video-book.ts';
import { RequestLog, type SeenRequest } from './request-log.ts';
import { ScriptBook } from './script-book.ts';
import type { ScriptRule } from './script-rule.ts';

export interface SimulatorOptions {
  /** 0 takes any free port. */
  port: number;
  host: string;
  /** The same seed gives the same answers to the same requests. */
  seed?: string;
  dialect?: Dialect;
  clock?: Clock;
  /** Between the events of a stream that no rule speaks of. */
  paceMs?: number;
  /** How long after a call `/generation` still answers 404. */
  lookupDelayMs?: number;
  /** How long a video takes that no rule speaks of. */
  videoMs?: number;
}

export interface Simulator {
  /** Ends in `/api/v1`. */
  baseUrl: string;
  port: number;
  /** Puts a rule in line. Throws when it is none. */
  script(rule: ScriptRule): void;
  /** Opens a gate for the calls that wait there and for all that come later. */
  release(gate: string): void;
  /** Calls that wait at this gate now. */
  waitingAt(gate: string): number;
  /** The newest requests, oldest first, as they came in. */
  requests(): readonly SeenRequest[];
  /** What the provider took, oldest first. */
  billed(): readonly BilledCall[];
  /** The video jobs that it took, oldest first. */
  videos(): readonly SimVideoJob[];
  /** Resolves once the condition holds; it is asked again after everything that happens here. */
  until(condition: () => boolean, timeoutMs?: number): Promise<void>;
  /** Forgets rules, gates and requests, never bills and videos. */
  reset(): void;
  close(): Promise<void>;
}

const UNTIL_TIMEOUT_MS = 10 * SECOND_MS;
/** Longer than any client keeps an idle connection, so that none is closed under a call that just starts. */
const KEEP_ALIVE_MS = 120 * SECOND_MS;

/** A provider of models on a port of this machine. It speaks OpenRouter's dialect and does what it is told. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const clock = options.clock ?? systemClock;
  const script = new ScriptBook();
  const requests = new RequestLog();
  const bills: BillBook = createBillBook(clock, options.lookupDelayMs ?? 0);
  const videos = createVideoBook(clock, options.videoMs ?? 0, bills);
  const watchers = new Set<() => void>();
  const runner = new CallRunner({
    seed: options.seed ?? 'faregate',
    dialect: options.dialect ?? 'openrouter',
    paceMs: options.paceMs ?? 0,
    clock,
    script,
    requests,
    bills,
    videos,
    changed: () => {
      for (const look of watchers) look();
    },
  });
  const server = createServer((req: IncomingMessage, res: ServerResponse) => runner.begin(req, res));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const port = await listen(server, options.port, options.host);

  return {
    baseUrl: `${httpOrigin(options.host, port)}/api/v1`,
    port,
    script: (rule) => script.add(rule),
    release: (gate) => script.release(gate),
    waitingAt: (gate) => script.waitingAt(gate),
    requests: () => requests.list(),
    billed: () => bills.list(),
    videos: () => videos.list(),
    until: (condition, timeoutMs = UNTIL_TIMEOUT_MS) => until(condition, timeoutMs, watchers),
    reset() {
      script.clear();
      requests.clear();
    },
    close: () => close(server),
  };
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await once(server.listen(port, host), 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function until(condition: () => boolean, timeoutMs: number, watchers: Set<() => void>): Promise<void> {
  if (condition()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    // Real time, whatever clock the simulator has: it only ends a wait that would never end.
    const timer = systemClock.setTimer(timeoutMs, () => {
      watchers.delete(look);
      reject(new Error(`Nothing of the kind happened at the simulator within ${timeoutMs} ms`));
    });
    const look = (): void => {
      if (!condition()) return;
      watchers.delete(look);
      timer.cancel();
      resolve();
    };
    watchers.add(look);
  });
}
