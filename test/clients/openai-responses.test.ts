import { openaiResponses } from './openai-responses.ts';
import { testClient } from './scenarios.ts';

testClient(openaiResponses);
testClient(openaiResponses, 'bills_full');
