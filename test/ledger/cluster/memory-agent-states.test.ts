import { createMemoryAgentStates } from '../../support/memory-agent-states.ts';
import { testAgentStates } from './agent-states-contract.ts';

const states = createMemoryAgentStates();
testAgentStates(() => states);
