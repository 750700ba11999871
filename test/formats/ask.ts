import type { FormatName } from '#core/catalog/catalog.ts';
import type { AskedModel } from '#core/conversation/conversation.ts';
import { type ApiError, isApiError } from '../../api/contract/errors.ts';
import {
  type TranslatedRequest,
  type TranslationTarget,
  translateRequest,
} from '../../api/inference/translation/translate-request.ts';
import { asAsked, askedDialect } from './asked-dialect.ts';

const ASKED: AskedModel = {
  upstreamModel: 'm',
  outputTokensCap: 4_000,
  reasonsByEffort: false,
  dialect: askedDialect,
};

export const translate = (
  from: FormatName,
  to: TranslationTarget,
  body: object,
  asked: Partial<AskedModel> = {},
): TranslatedRequest | ApiError =>
  translateRequest({ model: 'm', ...body }, from, to, { ...ASKED, ...asked });

function translated(from: FormatName, to: TranslationTarget, body: object): TranslatedRequest {
  const result = translate(from, to, body);
  if (isApiError(result)) throw new Error(`${result.param}: ${result.message}`);
  return result;
}

/** The body that a provider is sent. */
export const sentTo = (from: FormatName, to: TranslationTarget, body: object): Record<string, unknown> =>
  JSON.parse(translated(from, to, body).object.bytes.toString());

/** The names of what it is not sent. */
export const leftOutOf = (from: FormatName, to: TranslationTarget, body: object): readonly string[] =>
  translated(from, to, body).leftOut;

/** How the caller of this body is shown its answers. */
export const shownFor = (from: FormatName, to: TranslationTarget, body: object) => ({
  ...asAsked,
  names: translated(from, to, body).toolNames,
});

export function refusalOf(from: FormatName, to: TranslationTarget, body: object): ApiError {
  const result = translate(from, to, body);
  if (!isApiError(result)) throw new Error(`translated: ${result.object.bytes.toString()}`);
  return result;
}

export const user = { role: 'user', content: 'x' };
