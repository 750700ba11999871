import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Those that are open at any time: Node tells of each that comes, and lists none. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    // A connection that was refused is never served.
    if (socket.destroyed) return;
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return connections;
}
