import type { FormatName } from '#core/catalog/catalog.ts';
import type { TokenCounts } from '#core/events/ledger-event.ts';
import type { CallPlan } from '../admit/call-plan.ts';
import type { AnswerIdentity } from '../formats/call-format.ts';
import type { AnswerSink } from './answer-sink.ts';
import type { AnswerSource } from './answer-source.ts';
import { ChatSink, writeChatAnswer } from './chat-sink.ts';
import { ChatSource } from './chat-source.ts';
import { MessagesSink, writeMessagesAnswer } from './messages-sink.ts';
import { MessagesSource } from './messages-source.ts';
import { ResponsesSink, writeResponsesAnswer } from './responses-sink.ts';
import type { WholeAnswer } from './whole-answer.ts';

/** A provider is asked in the chat or the messages format only. */
export const openSource = (from: FormatName): AnswerSource =>
  from === 'messages' ? new MessagesSource() : new ChatSource();

export function openSink(to: FormatName, identity: AnswerIdentity, shown: ShownParts): AnswerSink {
  switch (to) {
    case 'chat/completions':
      return new ChatSink(identity, shown);
    case 'responses':
      return new ResponsesSink(identity);
    case 'messages':
      return new MessagesSink(identity);
  }
}

/** What a chat may be asked to leave out. */
type ShownParts = Pick<CallPlan, 'showUsage' | 'showReasoning'>;

/** A whole answer as JSON text, its usage as it was counted. */
export function writeAnswer(
  to: FormatName,
  whole: WholeAnswer,
  identity: AnswerIdentity,
  tokens: TokenCounts,
  shown: Pick<ShownParts, 'showReasoning'>,
): string {
  switch (to) {
    case 'chat/completions':
      return writeChatAnswer(whole, identity, tokens, shown);
    case 'responses':
      return writeResponsesAnswer(whole, identity, tokens);
    case 'messages':
      return writeMessagesAnswer(whole, identity, tokens);
  }
}
