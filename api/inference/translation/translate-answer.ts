import type { FormatName, UpstreamFormatName } from '#core/catalog/catalog.ts';
import type { OwnFormat } from '#core/conversation/own-format.ts';
import type { CallPlan, Candidate } from '../admit/call-plan.ts';
import type { AnswerIdentity } from '../formats/call-format.ts';
import type { AnswerSink, WrittenAnswer } from './answer-sink.ts';
import type { AnswerSource } from './answer-source.ts';
import { ChatSink, writeChatAnswer } from './chat-sink.ts';
import { ChatSource } from './chat-source.ts';
import { MessagesSink, writeMessagesAnswer } from './messages-sink.ts';
import { MessagesSource } from './messages-source.ts';
import { OwnSource } from './own-source.ts';
import { ResponsesSink, writeResponsesAnswer } from './responses-sink.ts';
import type { WholeAnswer } from './whole-answer.ts';

/** Reads what a translated call is answered: in the chat format, in the messages format, or in one that only the kind speaks. */
export function openSource(from: UpstreamFormatName | OwnFormat): AnswerSource {
  if (typeof from !== 'string') return new OwnSource(from.openReader());
  return from === 'messages' ? new MessagesSource() : new ChatSource();
}

export const openSourceOf = ({ format, provider }: Candidate): AnswerSource =>
  openSource(provider.kind.ownFormat ?? format.name);

export function openSink(to: FormatName, identity: AnswerIdentity, shown: ShownParts): AnswerSink {
  switch (to) {
    case 'chat':
      return new ChatSink(identity, shown);
    case 'responses':
      return new ResponsesSink(identity);
    case 'messages':
      return new MessagesSink(identity);
  }
}

/** What a chat may be asked to leave out. */
type ShownParts = Pick<CallPlan, 'showUsage' | 'showReasoning'>;

/** Writes a whole answer without its usage, which is written once its charge is known. */
export function writeAnswer(
  to: FormatName,
  whole: WholeAnswer,
  identity: AnswerIdentity,
  shown: Pick<ShownParts, 'showReasoning'>,
): WrittenAnswer {
  switch (to) {
    case 'chat':
      return writeChatAnswer(whole, identity, shown);
    case 'responses':
      return writeResponsesAnswer(whole, identity);
    case 'messages':
      return writeMessagesAnswer(whole, identity);
  }
}
