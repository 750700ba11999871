import type { Server } from 'node:http';
import { systemClock } from '#core/clock.ts';
import { awaitsUs } from './broken-request.ts';
import { connectionsOf } from './connections-of.ts';

/**
 * Cuts who takes nothing of what waits for it: else ten thousand readers of nothing, by one link to a file or without any
 * key, would keep every connection for ever. Node times a connection only from the look that found something waiting there:
 * timed from its first byte, each request would cost several timers.
 */
export function cutStalledReaders(server: Server, stalledReaderMs: number, lookEveryMs: number): void {
  const connections = connectionsOf(server);
  const look = () => {
    for (const socket of connections) {
      const isTimed = Boolean(socket.timeout);
      if (socket.writableLength > 0 && !isTimed) socket.setTimeout(stalledReaderMs);
    }
    timer = systemClock.setTimer(lookEveryMs, look);
  };
  let timer = { cancel: () => {} };
  server.once('listening', look);
  server.once('close', () => timer.cancel());
  // Idle ones end here, too, by Node's time between two requests.
  server.on('timeout', (socket) => {
    if (awaitsUs(socket)) socket.setTimeout(0);
    else socket.destroy();
  });
}
