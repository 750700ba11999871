import { newClients, sdkClient } from './mcp-client.ts';
import { testMcpClient } from './mcp-scenarios.ts';

for (const client of [sdkClient, ...newClients]) testMcpClient(client);
