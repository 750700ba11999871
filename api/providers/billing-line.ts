/*
 * Claude Code begins its instructions with a line for the billing of Claude's own vendor, which differs in every request. Other
 * servers read it as part of the prompt, and then no prompt begins like one in their caches, so each costs its full price
 * (anthropics/claude-code#68900, sgl-project/sglang#21064, ggml-org/llama.cpp#20623).
 */

/** The line's name, by which callers are told that it is left out. */
export const BILLING_LINE = 'x-anthropic-billing-header';

/** No more than the line's own members are cut, because some clients write all instructions into one text. */
const LINE = /^\s*x-anthropic-billing-header:(?:[ \t]*\w+=[^;\s]*;)*(?:[ \t]*\w+=[^;\s]*)?\s*/;

/** A text of instructions without the line. */
export const withoutBillingLine = (text: string): string =>
  text.includes(BILLING_LINE) ? text.replace(LINE, '') : text;
