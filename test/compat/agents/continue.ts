import type { CodingAgent } from '../coding-agent.ts';

export const continueCli: CodingAgent = {
  id: 'continue',
  title: 'Continue CLI',
  packages: 'continue',
  versionOf: '@continuedev/cli',
  speaks: 'chat',
  install: 'npm install -g @continuedev/cli',
  advice: 'The address ends in `/v1`.',
  files: ({ origin, modelId, key }) => ({
    '.continue/config.yaml': `name: Faregate
version: 1.0.0
schema: v1
models:
  - name: Faregate
    provider: openai
    model: ${modelId}
    apiBase: ${origin}/v1
    apiKey: ${key}
    roles: [chat, edit, apply]
    capabilities: [tool_use]
    defaultCompletionOptions: { contextLength: 262144, maxTokens: 32768 }
`,
  }),
  env: () => ({ CONTINUE_TELEMETRY_ENABLED: '0', CONTINUE_METRICS_ENABLED: '0' }),
  typed: () => 'cn',
  command: ({ installed, home }, task) => [
    process.execPath,
    `${installed}/node_modules/@continuedev/cli/dist/cn.js`,
    '--config',
    `${home}/.continue/config.yaml`,
    '--auto',
    '-p',
    task,
  ],
};
