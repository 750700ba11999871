import { z } from 'zod';
import { type ErrorShape, errorTable } from '../../api/contract/errors.ts';
import { marketErrorTable } from '../../api/contract/market-errors.ts';

const code = () => z.enum(Object.keys(errorTable)).meta({ description: 'Branch on this.' });

const ErrorDetail = z
  .looseObject({
    message: z.string().meta({ description: 'For people. Messages may be reworded.' }),
    type: z.string().meta({ description: 'The kind of error.' }),
    code: code(),
    param: z.string().nullable().meta({ description: 'The request field at fault.' }),
  })
  .meta({ id: 'ErrorDetail' });

export const ErrorResponse = z.looseObject({ error: ErrorDetail }).meta({ id: 'ErrorResponse' });

const MessagesErrorDetails = z.looseObject({ error_code: z.string() }).meta({
  id: 'MessagesErrorDetails',
  description: 'A code that the official SDK acts on by itself.',
});

const MessagesErrorDetail = z
  .looseObject({
    type: z.string(),
    message: z.string(),
    code: code(),
    details: MessagesErrorDetails.optional(),
  })
  .meta({ id: 'MessagesErrorDetail' });

export const MessagesErrorResponse = z
  .looseObject({ type: z.literal('error'), error: MessagesErrorDetail })
  .meta({ id: 'MessagesErrorResponse' });

const MarketErrorDetail = z
  .looseObject({
    code: z.enum(Object.keys(marketErrorTable)).meta({ description: 'Branch on this.' }),
    message: z.string().meta({ description: 'For people. Messages may be reworded.' }),
  })
  .meta({ id: 'MarketErrorDetail' });

export const MarketErrorResponse = z
  .looseObject({ error: MarketErrorDetail })
  .meta({ id: 'MarketErrorResponse' });

export const errorResponses = {
  chat: ErrorResponse,
  messages: MessagesErrorResponse,
  market: MarketErrorResponse,
} as const satisfies Record<ErrorShape, z.ZodType>;
