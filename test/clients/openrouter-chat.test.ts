import { openrouterChat } from './openrouter-chat.ts';
import { testClient } from './scenarios.ts';

testClient(openrouterChat);
