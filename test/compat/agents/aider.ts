import type { CodingAgent } from '../coding-agent.ts';

export const aider: CodingAgent = {
  id: 'aider',
  title: 'aider',
  packages: 'aider',
  versionOf: 'aider-chat',
  speaks: 'chat',
  install: 'python -m pip install aider-chat',
  advice:
    'The address ends in `/v1`, and the model has `openai/` in front. Aider calls no tools: the model writes files in blocks of its answer.',
  files: () => ({}),
  env: ({ origin, key }) => ({
    OPENAI_API_BASE: `${origin}/v1`,
    OPENAI_API_KEY: key,
    AIDER_ANALYTICS: 'false',
  }),
  typed: (modelId) => `aider --model openai/${modelId}`,
  answer: () => 'notes.txt\n```\nseven lions sleep\n```\n',
  command: ({ installed, modelId }, task) => [
    `${installed}/bin/python`,
    '-m',
    'aider',
    '--model',
    `openai/${modelId}`,
    '--no-git',
    '--edit-format',
    'whole',
    '--no-gitignore',
    '--no-analytics',
    '--no-check-update',
    '--no-show-model-warnings',
    '--yes-always',
    '--message',
    task,
  ],
};
