import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** An address that moves: what a client reaches under one port is for a test to say. */
export interface TcpForwarder {
  port: number;
  address: string;
  /** Everybody who is connected is cut off, and reaches this port from now on; `null`: nobody reaches anything. */
  to(port: number | null): void;
  /** Who connects from now on reaches this port; who is connected stays where it is. */
  newcomersTo(port: number): void;
  /**
   * The next request of this kind comes through, and the client is cut off before it hears the answer; resolves then. For
   * clients that ask one thing at a time, in one piece.
   */
  loseAnswerTo(isIt: (request: Buffer) => boolean): Promise<void>;
  /** Nothing comes through what is connected now, and nobody is told. */
  silence(): void;
  /**
   * What clients send over what is connected now gets stuck, and nobody is told; new connections pass. The answer makes it
   * arrive, as Linux does after a cut, also where the client has given that connection up and works over a new one.
   */
  stall(): () => void;
  close(): void;
}

export async function startTcpForwarder(firstPort: number | null): Promise<TcpForwarder> {
  let target = firstPort;
  let toLose: { isIt: (request: Buffer) => boolean; done: () => void } | null = null;
  const sockets = new Set<Socket>();
  const stalled = new Set<Socket>();
  const ways = new Map<Socket, Socket>();
  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      ways.delete(socket);
      if (!stalled.has(other)) other.destroy();
    });
  };
  const server = createServer((client) => {
    if (target === null) {
      client.destroy();
      return;
    }
    const upstream = connect(target, '127.0.0.1');
    ways.set(client, upstream);
    keep(client, upstream);
    keep(upstream, client);
    client.on('data', (request: Buffer) => {
      if (toLose?.isIt(request) !== true) return;
      const { done } = toLose;
      toLose = null;
      upstream
        .unpipe(client)
        .once('data', () => {
          client.destroy();
          done();
        })
        .resume();
    });
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    address: `127.0.0.1:${port}`,
    to(next) {
      target = next;
      cut();
    },
    newcomersTo(next) {
      target = next;
    },
    loseAnswerTo(isIt) {
      return new Promise((done) => {
        toLose = { isIt, done };
      });
    },
    silence() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    stall() {
      const stuck = Array.from(ways, ([client, upstream]) => {
        const sent: Buffer[] = [];
        client.unpipe(upstream);
        upstream.unpipe(client).resume();
        stalled.add(upstream);
        client.on('data', (bytes: Buffer) => sent.push(bytes)).resume();
        return { client, upstream, sent };
      });
      return () => {
        for (const { client, upstream, sent } of stuck) {
          upstream.end(Buffer.concat(sent));
          client.destroy();
        }
      };
    },
    close() {
      server.close();
      cut();
    },
  };
}
