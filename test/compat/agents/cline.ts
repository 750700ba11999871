import type { CodingAgent } from '../coding-agent.ts';

export const cline: CodingAgent = {
  id: 'cline',
  title: 'Cline CLI',
  packages: 'cline',
  versionOf: '@cline/cli-linux-x64',
  speaks: 'chat',
  install: 'npm install -g cline',
  advice: 'The address ends in `/v1`. `cline auth` writes it into `~/.cline`.',
  files: () => ({}),
  env: ({ key }) => ({ FAREGATE_API_KEY: key }),
  typed: (modelId) => `${authFor('http://127.0.0.1:8080', modelId)}\ncline`,
  command: ({ installed, origin, modelId }, task) => [
    'sh',
    '-ec',
    `PATH=${installed}/node_modules/@cline/cli-linux-x64/bin:$PATH\n${authFor(origin, modelId)}\ncline "$1"`,
    'sh',
    task,
  ],
};

const authFor = (origin: string, modelId: string): string =>
  `cline auth --provider openai-compatible --apikey "$FAREGATE_API_KEY" --modelid ${modelId} --baseurl ${origin}/v1`;
