import type { IncomingMessage } from 'node:http';
import type { IdSource } from '#core/ids.ts';
import type { Log } from '#core/log.ts';
import type { ApiError } from '../contract/errors.ts';
import type { CallContext } from '../contract/route.ts';

/**
 * What the binding needs besides the router. `Context` is the one that the router's procedures are written
 * for.
 */
export interface Edge<Context extends CallContext<unknown, object> = CallContext<unknown, object>> {
  /** `/v1`: every route of the router is served below it. */
  basePath: string;
  deps: Context['deps'];
  authenticate: (req: IncomingMessage) => Promise<Context['caller'] | ApiError>;
  /** Whom it accepted some seconds ago, for a route that has the key checked with its own work. `null`: nobody. */
  recall: (req: IncomingMessage) => Context['caller'] | null;
  /** After the key and before the body, on every route that takes one. */
  admitStart: (caller: Context['caller']) => ApiError | null;
  bodyBytesMax: () => number;
  ids: IdSource;
  callIdHeader: string;
  log: Log;
}
