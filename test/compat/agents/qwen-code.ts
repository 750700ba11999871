import type { CodingAgent } from '../coding-agent.ts';

export const qwenCode: CodingAgent = {
  id: 'qwen-code',
  title: 'Qwen Code',
  packages: 'qwen-code',
  versionOf: '@qwen-code/qwen-code',
  speaks: 'chat',
  install: 'npm install -g @qwen-code/qwen-code',
  advice: 'The address ends in `/v1`.',
  files: () => ({
    '.qwen/settings.json': JSON.stringify({
      security: { auth: { selectedType: 'openai' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    }),
  }),
  env: ({ origin, key, modelId }) => ({
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: `${origin}/v1`,
    OPENAI_MODEL: modelId,
  }),
  typed: () => 'qwen',
  command: ({ installed }, task) => [
    process.execPath,
    `${installed}/node_modules/@qwen-code/qwen-code/cli.js`,
    '--approval-mode',
    'yolo',
    '-p',
    task,
  ],
};
