import { openaiChat } from './openai-chat.ts';
import { testClient } from './scenarios.ts';

testClient(openaiChat);
testClient(openaiChat, 'bills_full');
