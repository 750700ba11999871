import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { isLoopbackAddress } from '#core/loopback.ts';
import { createPeerReader, type Peer } from './client-address.ts';

export interface ConnectionLimitOptions {
  perAddress: number;
  trustedProxies: readonly string[];
  clock: Clock;
  log: Log;
  /** Peers that are never counted. Default: this machine and the trusted proxies, behind which many callers share an address. */
  isExempt?: (peer: Peer) => boolean;
}

/**
 * How many connections one address may have open, so that a single host cannot take them all. An address has an entry while it
 * has a connection, so the map is bounded by the connections of the server.
 */
export class ConnectionLimit {
  /** Connections closed because their address had too many. */
  refused = 0;
  readonly #options: ConnectionLimitOptions;
  readonly #readPeer: (remoteAddress: string | undefined) => Peer;
  readonly #isExempt: (peer: Peer) => boolean;
  readonly #open = new Map<string, number>();
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #reported = 0;

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
    this.#readPeer = createPeerReader(options.trustedProxies).readPeer;
    this.#isExempt = options.isExempt ?? isExempt;
  }

  /** Addresses with a counted connection. */
  get addresses(): number {
    return this.#open.size;
  }

  /** False: the connection is one too many, and nothing of it is counted. */
  admit(socket: Socket): boolean {
    const peer = this.#readPeer(socket.remoteAddress);
    // A connection that has ended already closes by itself.
    if (peer.address === null || this.#isExempt(peer)) return true;
    const { subject } = peer;
    const open = this.#open.get(subject) ?? 0;
    if (open >= this.#options.perAddress) {
      this.#refuse(subject);
      return false;
    }
    this.#open.set(subject, open + 1);
    // Emitted exactly once for every socket, whatever ends it.
    socket.once('close', () => this.#leave(subject));
    return true;
  }

  #leave(subject: string): void {
    const open = this.#open.get(subject) ?? 0;
    if (open > 1) this.#open.set(subject, open - 1);
    else this.#open.delete(subject);
  }

  #refuse(address: string): void {
    const { clock, log } = this.#options;
    this.refused += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#reportedAtMs < MINUTE_MS) return;
    const count = this.refused - this.#reported;
    log.warn('connections refused: their address has as many as server.connectionsPerAddress', {
      address,
      count,
    });
    this.#reportedAtMs = nowMs;
    this.#reported = this.refused;
  }
}

const isExempt = ({ address, isTrusted }: Peer): boolean =>
  isTrusted || (address !== null && isLoopbackAddress(address));

/** Refuses before Node reads a byte. A reset leaves neither end waiting for the other, and no socket in TIME_WAIT. */
export function limitConnections(server: Server, limit: Pick<ConnectionLimit, 'admit'>): void {
  const [serve] = server.listeners('connection');
  if (serve === undefined) throw new Error('The server has no listener of connections.');
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    if (limit.admit(socket)) Reflect.apply(serve, server, [socket]);
    else socket.resetAndDestroy();
  });
}
