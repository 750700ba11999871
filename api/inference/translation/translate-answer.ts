import type { FormatName, UpstreamFormatName } from '#core/catalog/catalog.ts';
import type { OwnFormat } from '#core/conversation/own-format.ts';
import type { CallPlan, Candidate } from '../admit/call-plan.ts';
import type { AnswerIdentity } from '../formats/call-format.ts';
import { echoOf } from '../formats/responses-echo.ts';
import type { AnswerSink, WrittenAnswer } from './answer-sink.ts';
import type { AnswerSource } from './answer-source.ts';
import { OwnArguments } from './argument-names.ts';
import { ChatSink, type ShownChat, writeChatAnswer } from './chat-sink.ts';
import { ChatSource } from './chat-source.ts';
import { CheckedIds } from './checked-ids.ts';
import { MessagesSink, writeMessagesAnswer } from './messages-sink.ts';
import { MessagesSource } from './messages-source.ts';
import { OwnSource } from './own-source.ts';
import { ResponsesSink, type ShownResponse, writeResponsesAnswer } from './responses-sink.ts';
import { NO_TOOL_NAMES } from './tool-names.ts';
import type { WholeAnswer } from './whole-answer.ts';

/** Reads what a translated call is answered: in the chat format, in the messages format, or in one that only the kind speaks. */
export function openSource(from: UpstreamFormatName | OwnFormat, thinksInSummaries?: boolean): AnswerSource {
  if (typeof from !== 'string') return new OwnSource(from.openReader());
  return from === 'messages' ? new MessagesSource(thinksInSummaries) : new ChatSource();
}

/** Claude alone shows summaries of its thinking; other models that speak its format show the thinking itself. */
export function openSourceOf({ format, provider, endpoint, argumentNames }: Candidate): AnswerSource {
  const { upstreamModel } = endpoint;
  const opened = openSource(provider.kind.ownFormat ?? format.name, /claude/i.test(upstreamModel));
  const source = new CheckedIds(opened, provider);
  return argumentNames === undefined || argumentNames.size === 0
    ? source
    : new OwnArguments(source, argumentNames);
}

/** How the caller is shown the answer to its own request: with the names of its tools, and the members that repeat it. */
export function shownTo(plan: CallPlan, { toolNames }: Candidate): ShownParts {
  const { showUsage, showReasoning, format } = plan;
  const names = toolNames ?? NO_TOOL_NAMES;
  return { showUsage, showReasoning, names, echo: format.name === 'responses' ? echoOf(plan) : '' };
}

/** Parts of an answer that a caller may be shown otherwise than the provider wrote them. */
export type ShownParts = ShownChat & ShownResponse;

export function openSink(to: FormatName, identity: AnswerIdentity, shown: ShownParts): AnswerSink {
  switch (to) {
    case 'chat':
      return new ChatSink(identity, shown);
    case 'responses':
      return new ResponsesSink(identity, shown);
    case 'messages':
      return new MessagesSink(identity, shown);
  }
}

/** Writes a whole answer without its usage, which is written once its charge is known. */
export function writeAnswer(
  to: FormatName,
  whole: WholeAnswer,
  identity: AnswerIdentity,
  shown: ShownParts,
): WrittenAnswer {
  switch (to) {
    case 'chat':
      return writeChatAnswer(whole, identity, shown);
    case 'responses':
      return writeResponsesAnswer(whole, identity, shown);
    case 'messages':
      return writeMessagesAnswer(whole, identity, shown);
  }
}
