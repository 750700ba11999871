import { z } from 'zod';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import { MARKETS_TOPIC } from '#core/events/market-listing.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import { FEED_RECORDS_AT_ONCE, MEGABYTE } from '#core/limits.ts';
import type { DirectFeeds } from '#core/market/direct-feeds.ts';
import { type ApiError, answerOrRefuse, apiError } from '../../contract/errors.ts';
import type { AdminDeps } from '../context.ts';
import { marketsOff } from '../refusals.ts';
import { FedRecords } from '../schemas/fed-records.ts';
import { operatorProcedure, t } from '../trpc.ts';

/** The largest request with records. */
export const FEED_BODY_BYTES_MAX = 4 * MEGABYTE;

const records = `a list of 1 to ${FEED_RECORDS_AT_ONCE} records`;

/** Read by its own schema once its topic is known; anything else becomes a dead letter. */
const feedRecord = z.unknown().meta({
  id: 'FeedRecord',
  description: 'A record of the topic: its `type`, its version `v` and what that has.',
  override: { type: 'object', additionalProperties: true },
});

export const feedsRouter = t.router({
  // Not audited: a market has thousands of records a second. What a trade moved stands in the journal, under its id.
  feed: operatorProcedure({
    method: 'POST',
    path: '/feeds/{topic}',
    operationId: 'feedRecords',
    tag: 'Markets',
    summary: 'Feed records of markets',
    description:
      `For a gateway by itself: records of \`${MARKETS_TOPIC}\`, \`${TRADES_TOPIC}\` or \`${BOOK_TOPIC}\`, as Kafka ` +
      'brings them to a cluster. They are dealt with in their order, and may be sent again: what is known already changes ' +
      'nothing. They are not written to the audit log.',
    errors: ['not_found'],
    bodyBytesMax: FEED_BODY_BYTES_MAX,
    examples: {
      request: {
        records: [
          {
            v: 1,
            type: 'traded',
            market: 'credit-2026-11-30',
            seq: 118,
            tradeId: 't-118',
            at: '2026-11-23T10:00:00.000Z',
            price: '0.912',
            size: '2.5',
            sellerAgentId: 7,
            buyerAgentId: 8,
          },
        ],
      },
      answer: {
        outcomes: [{ outcome: 'rejected', reason: 'seller_lacks_credit' }],
        wanted_snapshots: [],
      },
    },
  })
    .input(
      z.strictObject({
        topic: z.string(),
        records: z
          .array(feedRecord, { error: records })
          .min(1, { error: records })
          .max(FEED_RECORDS_AT_ONCE, { error: records }),
      }),
    )
    .output(FedRecords)
    .mutation(async ({ ctx, input }) => {
      const feeds = answerOrRefuse(feedsOf(ctx.deps));
      const outcomes = await feeds.feed(input.topic, input.records);
      if (outcomes === 'unknown_topic') return answerOrRefuse<never>(unknownTopic());
      return { outcomes, wanted_snapshots: [...(await feeds.wantedSnapshots())] };
    }),
});

function feedsOf({ feeds }: Pick<AdminDeps, 'feeds'>): DirectFeeds | ApiError {
  if (feeds === 'off') return marketsOff();
  if (feeds === 'kafka') {
    return apiError('invalid_request', {
      message: 'In a cluster, records come over Kafka: write them to the topic of this name.',
    });
  }
  return feeds;
}

const unknownTopic = (): ApiError =>
  apiError('not_found', {
    message: `There is no such feed; there are ${MARKETS_TOPIC}, ${TRADES_TOPIC} and ${BOOK_TOPIC}.`,
  });
