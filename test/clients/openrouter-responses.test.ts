import { openrouterResponses } from './openrouter-responses.ts';
import { testClient } from './scenarios.ts';

testClient(openrouterResponses);
