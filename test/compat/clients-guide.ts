import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { agents } from './agents.ts';
import type { AgentSetup, CodingAgent } from './coding-agent.ts';
import { libraries } from './libraries.ts';

const FILE = resolve(import.meta.dirname, '../../docs/guides/clients.md');

/** A reader of the guides has the address and the model of `make run`. */
const READER: AgentSetup = {
  origin: 'http://127.0.0.1:8080',
  key: '$KEY',
  modelId: 'faregate-sim/agent',
  home: '~',
  folder: '.',
  installed: '',
};

const HEAD = `# Clients

Coding agents with the configuration that \`make compat\` runs them with; [works with](works-with.md) has the results, and frameworks and
SDKs beside them. Put your gateway's address for \`http://127.0.0.1:8080\` and the id of a model for \`${READER.modelId}\`, which is the
simulator's. \`KEY\` is an API key.

- An address that a client adds \`/chat/completions\` or \`/responses\` to ends in \`/v1\`. Anthropic's own clients add \`/v1/messages\`, so
  theirs stands without.
- A client does not know how long the context of a model is that its maker does not list. Write the length from \`GET /v1/models\` where the
  client has a setting for it.
- A client that keeps its history at OpenAI sends \`previous_response_id\`, which is refused: \`store: false\` makes it send the conversation.
- \`GET /v1/models\` answers both OpenAI's and Anthropic's clients. \`GET /v1/models/{id}\`, \`/v1/messages/count_tokens\` and
  \`/v1/responses/compact\` are not served; no client below needs them.
`;

export const clientsGuide = (): Promise<string> => readFile(FILE, 'utf8');

export const writeClientsGuide = (): Promise<void> => writeFile(FILE, makeClientsGuide());

export const makeClientsGuide = (): string =>
  [HEAD, ...agents.map(sectionOf), FRAMEWORKS, ...libraries.flatMap(snippetOf)].join('\n');

const FRAMEWORKS = `## SDKs and frameworks

Whole examples are on [a page of their own](../sdks.md). The lines below are those of the programs that \`make compat\` runs, where

\`\`\`python run by make compat
BASE_URL, ORIGIN, MODEL = "${READER.origin}/v1", "${READER.origin}", "${READER.modelId}"
\`\`\`
`;

/** Another title than the page of results has, and what a reader must know. */
const SECTIONS: Readonly<Record<string, { title: string; advice: string }>> = {
  'official-sdks': {
    title: 'SDKs of OpenAI, Anthropic and OpenRouter for node',
    advice:
      'The addresses of `openai` and `@openrouter/sdk` end in `/v1`; that of `@anthropic-ai/sdk` stands without, because it adds `/v1/messages`.',
  },
  'official-sdks-python': {
    title: 'SDKs of OpenAI and Anthropic for Python',
    advice: 'The same two addresses.',
  },
  langgraph: {
    title: 'LangChain and LangGraph',
    advice:
      '`ChatOpenAI` wants the address with `/v1`, `ChatAnthropic` without. With `use_responses_api`, `store=False` makes it send the whole conversation.',
  },
  'openrouter-clients': {
    title: "OpenRouter's provider for the AI SDK",
    advice:
      "The address of `@openrouter/ai-sdk-provider` ends in `/v1`. `@openrouter/sdk` stands above, with the vendors' SDKs.",
  },
};

/** Nothing for a library whose program has no lines for the guide. */
function snippetOf({ id, title, program = '' }: (typeof libraries)[number]): string[] {
  const source = readFileSync(join(import.meta.dirname, 'programs', program), 'utf8');
  const [, indent = '', lines] =
    /^( *)(?:#|\/\/) For the guide:\n([\s\S]*?)^ *(?:#|\/\/) End\.$/m.exec(source) ?? [];
  if (lines === undefined) return [];
  const language = program.endsWith('.py') ? 'python' : 'ts';
  const block = lines.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trimEnd();
  const { title: shownTitle, advice } = SECTIONS[id] ?? { title, advice: null };
  const words = advice === null ? '' : `${advice}\n\n`;
  return [`### ${shownTitle}\n\n${words}\`\`\`${language} run by make compat\n${block}\n\`\`\`\n`];
}

function sectionOf(agent: CodingAgent): string {
  const { title, install, advice } = agent;
  const files = Object.entries(agent.files(READER)).map(
    ([path, text]) => `\`~/${path}\`:\n\n${blockOf(path, text)}`,
  );
  const variables = Object.entries(agent.env(READER)).map(
    ([name, value]) => `export ${name}=${quoted(value)}`,
  );
  const lines = [install, ...variables, agent.typed(READER.modelId)].join('\n');
  const run = `\`\`\`sh installed by make compat\n${lines}\n\`\`\`\n`;
  return [`## ${title}\n`, `${advice}\n`, ...files, run].join('\n');
}

function blockOf(path: string, text: string): string {
  const language = /\w+$/.exec(path)?.[0] ?? 'text';
  return `\`\`\`${language} read by a program of make compat\n${text.trimEnd()}\n\`\`\`\n`;
}

const quoted = (value: string): string => (/^[\w$:/.-]+$/.test(value) ? value : `'${value}'`);
