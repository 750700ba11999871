import { aiSdkClients } from './ai-sdk.ts';
import { testClient } from './scenarios.ts';

for (const client of aiSdkClients) testClient(client);
