import { type ApiError, isApiError } from './errors.ts';

/**
 * Carries a refusal out of a tRPC procedure, whose only way to answer something else than its output is to
 * throw.
 */
export class Refusal extends Error {
  readonly apiError: ApiError;

  constructor(apiError: ApiError) {
    super(apiError.code);
    this.apiError = apiError;
  }
}

/** What a use case answered; a refusal leaves the procedure. */
export function answerOrRefuse<Answer extends object>(result: Answer | ApiError): Answer {
  if (isApiError(result)) throw new Refusal(result);
  return result;
}
