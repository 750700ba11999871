import { chatHead, type EdgeOptions, smallBody, startEdge } from './edge-app.ts';
import { type RawAnswer, RawClient, rawRequest } from './raw-http.ts';

/** Edges for tests that speak raw bytes to them; `stop` ends all edges and connections of a test file. */
export function rawEdges() {
  const edges: { stop(): Promise<void> }[] = [];
  const clients: RawClient[] = [];
  return {
    async start(options: EdgeOptions = {}) {
      const edge = await startEdge(options);
      edges.push(edge);
      return {
        ...edge,
        async connect() {
          const client = await RawClient.connect(edge.port);
          clients.push(client);
          return client;
        },
        /** The process is healthy when the next caller is served. */
        async stillServes() {
          const answer = await rawRequest(edge.port, chatHead(edge.key, smallBody.length), smallBody);
          return answer?.status === 200;
        },
      };
    },
    async stop() {
      for (const client of clients) client.destroy();
      await Promise.all(edges.map((edge) => edge.stop()));
    },
  };
}

export const errorOf = (answer: RawAnswer | null) => JSON.parse(answer?.body ?? '{}').error;

export const balanceHead = (key: string): string[] => [
  'GET /v1/balance HTTP/1.1',
  'Host: edge',
  `x-api-key: ${key}`,
];
