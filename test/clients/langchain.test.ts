import { langchainClients } from './langchain.ts';
import { testClient } from './scenarios.ts';

for (const client of langchainClients) testClient(client);
