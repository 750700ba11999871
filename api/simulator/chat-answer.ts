import { type ChatCall, drawOf } from './chat-request.ts';
import type { TokenUse } from './prices.ts';
import { sampleJson } from './sample-json.ts';
import type { Rule } from './script-rule.ts';
import { BYTES_PER_TOKEN, firstTokens, textTokens } from './tokens.ts';

/** What one choice says, cut into the pieces that a stream sends. */
export interface ChoiceAnswer {
  reasoning: string;
  pieces: readonly string[];
  /** Side by side. */
  toolCalls: readonly SimToolCall[];
  finishReason: string;
}

export interface SimToolCall {
  id: string;
  name: string;
  argumentsJson: string;
}

/** The same answer for the same request and seed, unless the rule says what to say. */
export function answerChoice(call: ChatCall, rule: Rule): ChoiceAnswer {
  if (rule.text !== undefined || rule.chunks !== undefined || rule.toolCalls !== undefined) {
    const toolCalls = (rule.toolCalls ?? []).map((each, index) => ({ id: callId(call, index), ...each }));
    const finishReason = toolCalls.length > 0 ? 'tool_calls' : 'stop';
    return { reasoning: '', pieces: scriptedPieces(rule), toolCalls, finishReason };
  }
  const reasoning = REASONING.repeat(Math.min(call.reasoningTokens, call.outputTokensMax));
  const tokensLeft = call.outputTokensMax - textTokens(reasoning);
  const calls = call.turn?.calls ?? call.tools.map(sampleCall);
  if (calls.length > 0) {
    const { toolCalls, capped } = callTools(call, calls, tokensLeft);
    return { reasoning, pieces: [], toolCalls, finishReason: capped ? 'length' : 'tool_calls' };
  }
  const whole = plainText(call);
  const text = firstTokens(whole, tokensLeft);
  const finishReason = text.length < whole.length ? 'length' : 'stop';
  return { reasoning, pieces: words(text), toolCalls: [], finishReason };
}

const sampleCall = ({ name, parameters }: ChatCall['tools'][number]): Omit<SimToolCall, 'id'> => ({
  name,
  argumentsJson: JSON.stringify(sampleJson(parameters) ?? {}),
});

function callTools(
  call: ChatCall,
  calls: readonly Omit<SimToolCall, 'id'>[],
  tokensMax: number,
): { toolCalls: SimToolCall[]; capped: boolean } {
  const toolCalls: SimToolCall[] = [];
  let tokensLeft = tokensMax;
  for (const [index, { name, argumentsJson: whole }] of calls.entries()) {
    const argumentsJson = firstTokens(whole, tokensLeft);
    tokensLeft -= textTokens(argumentsJson);
    toolCalls.push({ id: callId(call, index), name, argumentsJson });
    if (argumentsJson.length < whole.length) return { toolCalls, capped: true };
  }
  return { toolCalls, capped: false };
}

const callId = ({ digest }: ChatCall, index: number): string =>
  `call_${digest.slice(0, 24)}${index === 0 ? '' : `_${index}`}`;

const ARGUMENT_PIECE = /[\s\S]{1,8}/gu;

/** The pieces in which a stream sends the arguments of a call. */
export const argumentPieces = (argumentsJson: string): string[] => argumentsJson.match(ARGUMENT_PIECE) ?? [];

/** What the answer used, `choices` times; the rule may say otherwise. */
export function usedTokens(call: ChatCall, choice: ChoiceAnswer, rule: Rule): TokenUse {
  if (rule.dearest) return dearestTokens(call);
  const called = choice.toolCalls.map(({ argumentsJson }) => argumentsJson).join('');
  const text = choice.pieces.join('') + called;
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

function scriptedPieces(rule: Rule): string[] {
  if (rule.chunks !== undefined) return new Array(rule.chunks).fill(rule.text ?? SCRIPTED_PIECE);
  return rule.text === undefined ? [] : words(rule.text);
}

const OPENINGS = ['Heard you:', 'You said:', 'Your words:', 'I read:'] as const;

function plainText(call: ChatCall): string {
  if (call.jsonSchema !== undefined) return JSON.stringify(sampleJson(call.jsonSchema));
  if (call.turn !== null) return call.turn.text;
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
