import { connect } from 'node:net';
import { DOCTOR_CONNECT_MS } from '#core/limits.ts';

/** `null`: something listens at `host:port`. Said in the system's word, at once: drivers try for longer than anybody waits. */
export function whyUnreachable(address: string): Promise<string | null> {
  const { hostname, port } = new URL(`tcp://${address}`);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port),
      timeout: DOCTOR_CONNECT_MS,
    });
    const end = (why: string | null) => {
      socket.destroy();
      resolve(why);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end('no connection in time'));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
