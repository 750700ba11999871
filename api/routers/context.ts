import type { FormatName } from '#core/catalog/catalog.ts';
import type { Caller } from '../contract/caller.ts';
import type { ApiError } from '../contract/errors.ts';
import type { CallContext, HotCallContext, PublicCallContext } from '../contract/route.ts';
import type { Upload, UploadRequest } from '../contract/upload.ts';

/**
 * The functions that the edge and the routes call. Built once, in `app.ts`. One that takes a call answers by itself; a refusal
 * before the first byte is returned, and the edge renders it.
 */
export interface UseCases {
  /**
   * After the key, before the body: an agent whose starts are all refused cannot send endless large bodies.
   */
  admitStart(caller: Caller): ApiError | null;
  runCall(format: FormatName, call: HotCallContext<UseCases, Caller>): Promise<ApiError | null>;
  runImage(call: HotCallContext<UseCases, Caller>): Promise<ApiError | null>;
  listModels(call: CallContext<UseCases, Caller>): Promise<null>;
  listVideoModels(call: PublicCall): void;
  listImageModels(call: PublicCall): void;
  listMarkets(call: PublicCall): Promise<void>;
  sendBook(call: PublicCall): Promise<void>;
  sendCandles(call: PublicCall): Promise<void>;
  sendBalance(call: CallContext<UseCases, Caller>): Promise<ApiError | null>;
  orderVideo(call: HotCallContext<UseCases, Caller>): Promise<ApiError | null>;
  sendVideo(call: CallContext<UseCases, Caller>): Promise<ApiError | null>;
  openVideo(call: CallContext<UseCases, Caller>): Promise<ApiError | null>;
  createUpload(caller: Caller, request: UploadRequest): Promise<Upload | ApiError>;
}

type PublicCall = PublicCallContext<UseCases>;

export type RequestContext = CallContext<UseCases, Caller>;
