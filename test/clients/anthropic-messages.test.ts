import { anthropicMessages } from './anthropic-messages.ts';
import { testClient } from './scenarios.ts';

testClient(anthropicMessages);
testClient(anthropicMessages, 'bills_full');
