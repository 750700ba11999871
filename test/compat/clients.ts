import { agents } from './agents.ts';
import type { CompatClient } from './client.ts';
import { codingAgent } from './coding-agent.ts';
import { libraries } from './libraries.ts';
import { compatcanary } from './suites/compatcanary.ts';
import { jsonTestSuite } from './suites/json-test-suite.ts';
import { langchainTests } from './suites/langchain.ts';
import { openResponses } from './suites/open-responses.ts';

/** All that `make compat` runs, in the order of the table of results. */
export const clients: readonly CompatClient[] = [
  ...agents.map(codingAgent),
  ...libraries,
  openResponses,
  langchainTests,
  compatcanary,
  jsonTestSuite,
];
