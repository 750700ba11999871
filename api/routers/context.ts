import type { FormatName } from '#core/catalog/catalog.ts';
import type { Caller } from '../contract/caller.ts';
import type { ApiError } from '../contract/errors.ts';
import type { CallContext, HotCallContext, PublicCallContext } from '../contract/route.ts';
import type { Upload, UploadRequest } from '../contract/upload.ts';

/** What the edge and the routes call. Built once, in `app.ts`. */
export interface UseCases {
  /**
   * After the key, before the body: an agent whose starts are all refused cannot send endless large bodies.
   */
  admitStart(caller: Caller): ApiError | null;
  /** Answers by itself. A refusal before the first byte is returned; the edge renders it. */
  runCall(endpoint: FormatName, call: HotCallContext<UseCases, Caller>): Promise<ApiError | null>;
  /** Answers by itself, as a call of a text model does. */
  runImage(call: HotCallContext<UseCases, Caller>): Promise<ApiError | null>;
  /** Answers by itself. */
  listModels(call: CallContext<UseCases, Caller>): Promise<null>;
  /** Answers by itself, whoever asks. */
  listVideoModels(call: PublicCall): void;
  listImageModels(call: PublicCall): void;
  /** Answers by itself, whoever asks, and at once where everything is at hand. */
  listMarkets(call: PublicCall): void | Promise<void>;
  sendBook(call: PublicCall): void | Promise<void>;
  sendCandles(call: PublicCall): void | Promise<void>;
  /** Answers by itself. */
  sendBalance(call: CallContext<UseCases, Caller>): Promise<ApiError | null>;
  /** Answers by itself. */
  orderVideo(call: HotCallContext<UseCases, Caller>): Promise<ApiError | null>;
  /** Answers by itself. */
  sendVideo(call: CallContext<UseCases, Caller>): Promise<ApiError | null>;
  /** Answers by itself. */
  openVideo(call: CallContext<UseCases, Caller>): Promise<ApiError | null>;
  createUpload(caller: Caller, request: UploadRequest): Promise<Upload | ApiError>;
}

type PublicCall = PublicCallContext<UseCases>;

export type RequestContext = CallContext<UseCases, Caller>;
