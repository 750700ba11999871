import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { connectCassandra } from '#core/drivers/cassandra.ts';

const TLS_HANDSHAKE = 0x16;

test.each([true, false])(
  'a node hears a handshake first, or not, as it was configured: tls %s',
  async (tls) => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const connected = once(server, 'connection');
    const contactPoints = [`127.0.0.1:${address.port}`];
    const client = connectCassandra({ contactPoints, localDataCentre: 'datacenter1', tls });
    const failed = expect(client.connect()).rejects.toThrow();
    const [socket]: Socket[] = await connected;
    const [first]: Buffer[] = socket === undefined ? [] : await once(socket, 'data');
    expect(first?.[0] === TLS_HANDSHAKE).toBe(tls);
    socket?.destroy();
    server.close();
    await failed;
    await client.shutdown();
  },
);
