import type { StreamReader } from '../formats/call-format.ts';
import { eventsOfAnswer } from '../formats/events-of-answer.ts';
import { echoOf } from '../formats/responses-echo.ts';
import { answerHeaders, EVENT_STREAM } from '../hold/answer-headers.ts';
import { estimateTokens } from '../price/estimate.ts';
import { AnswerWords } from '../scrub/answer-words.ts';
import { scrubErrorsInEvents, scrubEvents } from '../scrub/scrub-answer.ts';
import { openSink, openSourceOf, shownTo } from '../translation/translate-answer.ts';
import { TranslatedStream } from '../translation/translated-stream.ts';
import { type Attempt, endUnlessComplete, failedStream } from './attempt.ts';
import type { RunningCall } from './running-call.ts';
import { StreamRelay } from './stream-relay.ts';
import type { AnswerReceiver, UpstreamRequest } from './upstream-request.ts';
import { textOrNull } from './upstream-text.ts';

/** A whole answer for a caller who wants a stream: as the stream that it would have been. */
export async function relayWholeAnswer(
  call: RunningCall,
  upstream: UpstreamRequest,
  { answer, usage, deliveredTokens }: Extract<Attempt, { kind: 'json' }>,
): Promise<Attempt> {
  const { name } = call.candidate.format;
  const events = name === 'own' ? null : eventsOfAnswer(name, answer.bytes);
  if (events === null) return failedStream(call, { kind: 'malformed' }, usage, 0);
  const pipeTo = (receiver: AnswerReceiver): void => {
    receiver.data(events);
    receiver.end();
  };
  const relayed = await relayAnswer(call, upstream, { pipeTo, eventBytesMax: Number.POSITIVE_INFINITY });
  // The provider has written and counted all of it, however it is shown. An event alone may have a half of its record.
  return relayed.kind === 'stream' ? { ...relayed, usage, deliveredTokens } : { ...relayed, usage };
}

/** The place from which the bytes of a stream come. */
export interface EventSource extends Pick<UpstreamRequest, 'pipeTo'> {
  /** Events of the gateway's own making are as long as the answer that they are made of. */
  eventBytesMax?: number;
}

/** A stream for a caller who wants one, passed on as it comes. */
export async function relayAnswer(
  call: RunningCall,
  upstream: UpstreamRequest,
  source: EventSource = upstream,
): Promise<Attempt> {
  const { format, translated } = call.candidate;
  const isTranslated = translated !== null;
  const reader = openReader(call);
  const words = new AnswerWords(call.hidden);
  const relay = new StreamRelay({
    clock: call.options.gateway.clock,
    // An answer in another format has no members of its server's own.
    scrub: (events) => (isTranslated ? scrubErrorsInEvents : scrubEvents)(events, words),
    upstream,
    caller: call.caller,
    reader,
    requestBytes: call.options.plan.body.bytes.length,
    textBytesMax: Number.POSITIVE_INFINITY,
    ...(source.eventBytesMax === undefined ? {} : { eventBytesMax: source.eventBytesMax }),
    firstEvent: (event) => {
      if (call.generationId === null) call.nameAnswer('body', textOrNull(format.idOf(event)));
    },
    head: () => answerHeaders(call, EVENT_STREAM),
  });
  call.countShown(() => reader.eventsShown ?? relay.eventsRelayed);
  source.pipeTo(relay);
  const end = endUnlessComplete(call, await relay.ended, reader);
  const deliveredTokens = estimateTokens(relay.deliveredBytes);
  const usage = reader.usage(deliveredTokens);
  if (end.kind === 'complete') {
    // An end with nothing before it is no answer: another provider may give one.
    if (!call.caller.committed && usage === null) return failedStream(call, { kind: 'malformed' }, null, 0);
    return { kind: 'stream', usage, reader, deliveredTokens };
  }
  return failedStream(call, end, usage, deliveredTokens);
}

function openReader(call: RunningCall): StreamReader {
  const { plan } = call.options;
  const { endpoint, model, format, provider, translated } = call.candidate;
  if (translated !== null) {
    const sink = openSink(plan.format.name, call.identity, shownTo(plan, call.candidate));
    return new TranslatedStream(openSourceOf(call.candidate), sink);
  }
  const { upstreamModel } = endpoint;
  const { hidden } = call;
  const { vendorFields } = provider.dialect;
  return format.openStream({
    upstreamModel,
    publicModel: model.id,
    showUsage: plan.showUsage,
    vendorFields,
    hidden,
    ownId: call.identity.id,
    createdAtS: call.identity.createdAtS,
    echo: () => echoOf(plan),
  });
}
