import type { CodingAgent } from '../coding-agent.ts';

export const opencode: CodingAgent = {
  id: 'opencode',
  title: 'opencode',
  packages: 'opencode',
  versionOf: 'opencode-linux-x64',
  speaks: 'chat',
  install: 'npm install -g opencode-ai',
  advice:
    "The address ends in `/v1`. `limit` is the model's context window. `small_model` writes titles: without it opencode looks for a small model of its own choice.",
  files: ({ origin, modelId }) => ({
    '.config/opencode/opencode.json': JSON.stringify(
      {
        $schema: 'https://opencode.ai/config.json',
        model: `faregate/${modelId}`,
        small_model: `faregate/${modelId}`,
        autoupdate: false,
        share: 'disabled',
        permission: { edit: 'allow', bash: 'allow' },
        provider: {
          faregate: {
            npm: '@ai-sdk/openai-compatible',
            name: 'Faregate',
            options: { baseURL: `${origin}/v1`, apiKey: '{env:FAREGATE_API_KEY}' },
            models: { [modelId]: { limit: { context: 262_144, output: 32_768 } } },
          },
        },
      },
      null,
      2,
    ),
  }),
  env: ({ key }) => ({ FAREGATE_API_KEY: key, OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  typed: () => 'opencode',
  command: ({ installed }, task) => [
    `${installed}/node_modules/opencode-linux-x64/bin/opencode`,
    'run',
    task,
  ],
};
