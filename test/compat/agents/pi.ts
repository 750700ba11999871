import type { CodingAgent } from '../coding-agent.ts';

export const pi: CodingAgent = {
  id: 'pi',
  title: 'pi',
  packages: 'pi',
  versionOf: '@mariozechner/pi-coding-agent',
  speaks: 'messages',
  install: 'npm install -g @mariozechner/pi-coding-agent',
  advice:
    'With `anthropic-messages` the address stands without `/v1`; with `openai-completions` or `openai-responses` it ends in `/v1`.',
  files: ({ origin, modelId }) => ({
    '.pi/agent/models.json': JSON.stringify(
      {
        providers: {
          faregate: {
            // Its Anthropic client adds `/v1/messages` itself; `openai-completions` wants the address with `/v1`.
            baseUrl: origin,
            api: 'anthropic-messages',
            apiKey: 'FAREGATE_API_KEY',
            models: [
              {
                id: modelId,
                name: 'Faregate',
                reasoning: false,
                input: ['text'],
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
                contextWindow: 262_144,
                maxTokens: 32_768,
              },
            ],
          },
        },
      },
      null,
      2,
    ),
  }),
  env: ({ key }) => ({ FAREGATE_API_KEY: key, PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' }),
  typed: (modelId) => `pi --provider faregate --model ${modelId}`,
  command: ({ installed, modelId }, task) => [
    process.execPath,
    `${installed}/node_modules/@mariozechner/pi-coding-agent/dist/cli.js`,
    '--provider',
    'faregate',
    '--model',
    modelId,
    '-p',
    task,
  ],
};
