import type { Rule } from './script-rule.ts';

type ErrorRule = NonNullable<Rule['error']>;

export interface ErrorBody {
  contentType: string;
  text: string;
}

/** OpenRouter's stable error types, by status. */
const typeByStatus: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'authentication',
  402: 'payment_required',
  403: 'permission_denied',
  404: 'not_found',
  408: 'timeout',
  412: 'precondition_failed',
  413: 'payload_too_large',
  422: 'unprocessable',
  429: 'rate_limit_exceeded',
  500: 'server',
  502: 'provider_unavailable',
  503: 'provider_overloaded',
  504: 'timeout',
  524: 'timeout',
  529: 'provider_overloaded',
};

export const errorTypeOf = (status: number): string => typeByStatus[status] ?? 'unmapped';

/** What OpenRouter itself answers when it refuses. */
export function refusal(status: number, message: string, type = errorTypeOf(status)): ErrorBody {
  return json({ error: openrouterError(status, type, message), user_id: ACCOUNT });
}

/** A scripted error in the shape of whichever server the test has in mind. */
export function errorBody(status: number, error: ErrorRule): ErrorBody {
  const type = error.type ?? errorTypeOf(status);
  const code = error.code ?? status;
  const { message } = error;
  switch (error.style) {
    case 'openrouter':
      return json({ error: openrouterError(code, type, message), user_id: ACCOUNT });
    case 'availability':
      return json({
        error: { message, error_type: type, http_status: status, availability: availability(error) },
      });
    case 'openai':
      return json({ error: { message, type, param: null, code: error.code ?? null } });
    case 'google':
      return json([{ error: { code: status, message, status: type.toUpperCase(), details: [] } }]);
    case 'flat':
      return json({ object: 'error', message, type, param: null, code });
    case 'string':
      return json({ error: message });
    case 'text':
      return { contentType: 'text/plain; charset=utf-8', text: message };
    case 'html':
      return {
        contentType: 'text/html; charset=utf-8',
        text: `<html><head><title>${status}</title></head><body><h1>${message}</h1><hr>sim-edge</body></html>`,
      };
    case 'empty':
      return { contentType: 'text/plain', text: '' };
    default:
      return error.style satisfies never;
  }
}

/** The `error` of a chunk in a stream that had begun well. */
export function streamError(status: number, error: ErrorRule): unknown {
  return {
    code: error.code ?? status,
    message: error.message,
    metadata: { error_type: error.type ?? errorTypeOf(status), provider_name: 'SimCloud' },
  };
}

// Names that a caller must never see: the operator's account and who stands behind a model.
const ACCOUNT = 'user_sim_operator';

function openrouterError(code: number | string, type: string, message: string): unknown {
  return {
    code,
    message,
    metadata: { error_type: type, provider_name: 'SimCloud', raw: `SimCloud: ${message}` },
  };
}

function availability(error: ErrorRule): unknown {
  return {
    code: error.code ?? 'no_endpoints',
    retryable: true,
    retry_after: 7,
    affected_providers: ['SimCloud'],
  };
}

const json = (body: unknown): ErrorBody => ({ contentType: 'application/json', text: JSON.stringify(body) });
