import type { CodingAgent } from '../coding-agent.ts';

export const codex: CodingAgent = {
  id: 'codex',
  title: 'Codex CLI',
  packages: 'codex',
  versionOf: '@openai/codex',
  speaks: 'responses',
  install: 'npm install -g @openai/codex',
  advice:
    'The address ends in `/v1`. Codex speaks responses, which works with every model, also with one whose provider speaks another format. `model_context_window` is the length of the context; Codex warns that it knows no metadata of the model all the same. Its hosted web search is offered in every request; a model that cannot search is called without it, and `web_search = "disabled"` ends the offer.',
  files: ({ origin, modelId }) => ({
    '.codex/config.toml': `model = "${modelId}"
model_provider = "faregate"
model_context_window = 262144

[model_providers.faregate]
name = "Faregate"
base_url = "${origin}/v1"
env_key = "FAREGATE_API_KEY"
wire_api = "responses"
`,
  }),
  env: ({ key }) => ({ FAREGATE_API_KEY: key }),
  // Codex has a shell and no tool that reads or writes files.
  task: (file) =>
    `Run the command "printf 'seven lions sleep' > ${file}", then run the command "cat ${file}".`,
  typed: () => 'codex',
  command: ({ installed }, task) => [
    process.execPath,
    `${installed}/node_modules/@openai/codex/bin/codex.js`,
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    task,
  ],
};
