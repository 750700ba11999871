import { aider } from './agents/aider.ts';
import { claudeCode } from './agents/claude-code.ts';
import { cline } from './agents/cline.ts';
import { codex } from './agents/codex.ts';
import { continueCli } from './agents/continue.ts';
import { opencode } from './agents/opencode.ts';
import { pi } from './agents/pi.ts';
import { qwenCode } from './agents/qwen-code.ts';
import type { CodingAgent } from './coding-agent.ts';

/** Coding agents on the command line, in the order of the guide of clients. */
export const agents: readonly CodingAgent[] = [
  codex,
  claudeCode,
  opencode,
  cline,
  continueCli,
  qwenCode,
  pi,
  aider,
];
