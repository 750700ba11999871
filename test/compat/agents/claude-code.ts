import type { CodingAgent } from '../coding-agent.ts';

export const claudeCode: CodingAgent = {
  id: 'claude-code',
  title: 'Claude Code',
  packages: 'claude-code',
  versionOf: '@anthropic-ai/claude-code-linux-x64',
  speaks: 'messages',
  install: 'npm install -g @anthropic-ai/claude-code',
  advice:
    'The address stands without `/v1`. For a model that it does not know Claude Code assumes a window of a million tokens, which `CLAUDE_CODE_MAX_CONTEXT_TOKENS` corrects.',
  files: () => ({}),
  env: ({ origin, key, modelId }) => ({
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: modelId,
    ANTHROPIC_SMALL_FAST_MODEL: modelId,
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: '262144',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
  typed: () => 'claude',
  command: ({ installed }, task) => [
    `${installed}/node_modules/@anthropic-ai/claude-code-linux-x64/claude`,
    '-p',
    task,
    '--allowedTools',
    'Read,Write,Bash',
  ],
};
