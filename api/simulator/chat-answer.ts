import { type ChatCall, drawOf } from './chat-request.ts';
import type { TokenUse } from './prices.ts';
import { sampleJson } from './sample-json.ts';
import type { Rule } from './script-rule.ts';
import { BYTES_PER_TOKEN, firstTokens, textTokens } from './tokens.ts';

/** What one choice says, cut into the pieces that a stream sends. */
export interface ChoiceAnswer {
  reasoning: string;
  pieces: readonly string[];
  toolCall: { id: string; name: string; argumentsJson: string } | null;
  finishReason: string;
}

/** The same answer for the same request and seed, unless the rule says what to say. */
export function answerChoice(call: ChatCall, rule: Rule): ChoiceAnswer {
  const scripted = scriptedPieces(rule);
  if (scripted !== null) {
    return { reasoning: '', pieces: scripted, toolCall: null, finishReason: rule.finishReason ?? 'stop' };
  }
  const reasoning = REASONING.repeat(Math.min(call.reasoningTokens, call.outputTokensMax));
  const tokensLeft = call.outputTokensMax - textTokens(reasoning);
  const whole = call.tool === null ? plainText(call) : JSON.stringify(sampleJson(call.tool.parameters) ?? {});
  const text = firstTokens(whole, tokensLeft);
  const capped = text.length < whole.length ? 'length' : null;
  if (call.tool !== null) {
    const toolCall = { id: `call_${call.digest.slice(0, 24)}`, name: call.tool.name, argumentsJson: text };
    return { reasoning, pieces: [], toolCall, finishReason: rule.finishReason ?? capped ?? 'tool_calls' };
  }
  return {
    reasoning,
    pieces: words(text),
    toolCall: null,
    finishReason: rule.finishReason ?? capped ?? 'stop',
  };
}

/** What the answer used, `choices` times; the rule may say otherwise. */
export function usedTokens(call: ChatCall, choice: ChoiceAnswer, rule: Rule): TokenUse {
  if (rule.dearest) return dearestTokens(call);
  const text = choice.pieces.join('') + (choice.toolCall?.argumentsJson ?? '');
  const reasoningTokens = rule.reasoningTokens ?? textTokens(choice.reasoning) * call.choices;
  const completionTokens = rule.completionTokens ?? textTokens(text) * call.choices + reasoningTokens;
  const promptTokens = rule.promptTokens ?? call.promptTokens;
  return {
    promptTokens,
    cachedTokens: Math.min(rule.cachedTokens ?? 0, promptTokens),
    completionTokens,
    reasoningTokens: Math.min(reasoningTokens, completionTokens),
    images: call.images,
  };
}

function dearestTokens(call: ChatCall): TokenUse {
  const completionTokens = (call.outputTokensMax + call.predictionTokens) * call.choices;
  return {
    promptTokens: call.dearestPromptTokens,
    cachedTokens: 0,
    completionTokens,
    reasoningTokens: 0,
    images: call.images,
  };
}

/** Exactly one token. */
const REASONING = 'hmm '.padEnd(BYTES_PER_TOKEN);
const SCRIPTED_PIECE = 'word ';
const ECHO_CHARACTERS_MAX = 80;

function scriptedPieces(rule: Rule): string[] | null {
  if (rule.chunks !== undefined) return new Array(rule.chunks).fill(rule.text ?? SCRIPTED_PIECE);
  return rule.text === undefined ? null : words(rule.text);
}

const OPENINGS = ['Heard you:', 'You said:', 'Your words:', 'I read:'] as const;

function plainText(call: ChatCall): string {
  if (call.jsonSchema !== undefined) return JSON.stringify(sampleJson(call.jsonSchema));
  const opening = OPENINGS[drawOf(call.digest) % OPENINGS.length] ?? OPENINGS[0];
  const characters = Array.from(
    call.lastUserText
      .trim()
      .replaceAll(/\s+/g, ' ')
      .slice(0, 2 * ECHO_CHARACTERS_MAX),
  );
  const echo = characters.slice(0, ECHO_CHARACTERS_MAX).join('');
  const text = `${opening} “${echo}${characters.length > ECHO_CHARACTERS_MAX ? '…' : ''}” ${ENDING}`;
  const stops = call.stop.map((stop) => text.indexOf(stop)).filter((index) => index >= 0);
  return text.slice(0, Math.min(text.length, ...stops));
}

const ENDING =
  'No model ran, this is the simulator, but the call was held, metered and charged like a real one.';

/** Pieces as a model streams them: a word with its space. Joined, they are the text. */
const words = (text: string): string[] => text.match(/\S*\s*/g)?.filter((word) => word !== '') ?? [];
