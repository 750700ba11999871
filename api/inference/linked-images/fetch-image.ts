import { buildConnector, Client, type Dispatcher } from 'undici';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import type { ImageType } from '#core/files/file-name.ts';
import { IMAGE_TYPE_BYTES, imageTypeOf } from '#core/files/image-type.ts';
import { withoutRootDot } from '#core/host-name.ts';
import { HEADERS_BYTES } from '#core/limits.ts';
import { checkPublicHttpsUrl, NO_PUBLIC_LINK, type ResolveHost, resolvePublic } from './public-link.ts';

/** Time for one image that the gateway fetches for a provider, from the DNS look-up to the last byte. */
export const IMAGE_FETCH_MS = 10 * SECOND_MS;
export const IMAGE_REDIRECTS_MAX = 3;
/** Addresses of one host name that are tried, one after the other. */
const IMAGE_ADDRESSES_MAX = 3;

/** Words are to stand behind the name of the field that the link was in. */
export type FetchedImage = { ok: true; contentType: ImageType; bytes: Buffer } | { ok: false; words: string };

export type FetchImage = (link: string, bytesMax: number) => Promise<FetchedImage>;

export interface FetchImageOptions {
  clock: Clock;
  resolve: ResolveHost;
  /** Opens a connection to one address that was looked at: it resolves nothing. */
  connect: buildConnector.connector;
}

export const systemConnect = (): buildConnector.connector =>
  buildConnector({ allowH2: false, timeout: IMAGE_FETCH_MS });

/**
 * Fetches an image that a stranger names, from inside the operator's network. Each name is resolved once, and the
 * connection goes to what was looked at: a second answer of its name server is never asked for.
 */
export function createFetchImage({ clock, resolve, connect }: FetchImageOptions): FetchImage {
  return async (link, bytesMax) => {
    const stop = new AbortController();
    const timer = clock.setTimer(IMAGE_FETCH_MS, () => stop.abort(new Refusal('was not sent in time')));
    try {
      return await follow(link, bytesMax);
    } catch (error) {
      const cause = stop.signal.aborted ? stop.signal.reason : error;
      return { ok: false, words: cause instanceof Refusal ? cause.message : 'could not be fetched' };
    } finally {
      timer.cancel();
    }

    async function follow(from: string, most: number): Promise<FetchedImage> {
      let next = from;
      for (let hop = 0; hop <= IMAGE_REDIRECTS_MAX; hop++) {
        const url = checkPublicHttpsUrl(next);
        if (url === null)
          throw new Refusal(hop === 0 ? NO_PUBLIC_LINK : 'is redirected to no public https link');
        const host = await until(resolvePublic(url.hostname, resolve), stop.signal);
        if (!host.ok) throw new Refusal(host.words);
        const client = new Client(url.origin, {
          connect: connectTo(host.addresses, url.hostname, connect),
          maxHeaderSize: HEADERS_BYTES,
          allowH2: false,
        });
        try {
          const answer = await client.request({
            method: 'GET',
            path: url.pathname + url.search,
            headers,
            signal: stop.signal,
          });
          const { location } = answer.headers;
          if (!REDIRECTS.has(answer.statusCode)) return await readImage(answer, most);
          if (typeof location !== 'string') throw new Refusal('is redirected to nowhere');
          next = new URL(location, url).href;
        } finally {
          await client.destroy();
        }
      }
      throw new Refusal('is redirected too often');
    }
  };
}

class Refusal extends Error {
  override readonly name = 'Refusal';
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const headers = {
  accept: 'image/png, image/jpeg, image/webp, image/gif',
  // What is small when packed may be of any size.
  'accept-encoding': 'identity',
  'user-agent': 'faregate',
};

/** The first address that takes a connection. Its certificate has to be the name's. */
function connectTo(
  addresses: readonly string[],
  host: string,
  connect: buildConnector.connector,
): buildConnector.connector {
  const tried = addresses.slice(0, IMAGE_ADDRESSES_MAX);
  return (options, callback) => {
    const tryFrom = (at: number): void =>
      connect(
        { ...options, hostname: tried[at] ?? '', servername: withoutRootDot(host) },
        (...[error, socket]) => {
          if (error === null) callback(null, socket);
          else if (at + 1 < tried.length) tryFrom(at + 1);
          else callback(error, null);
        },
      );
    tryFrom(0);
  };
}

async function readImage(answer: Dispatcher.ResponseData, bytesMax: number): Promise<FetchedImage> {
  const { statusCode, headers: sent, body } = answer;
  if (statusCode !== 200) throw new Refusal(`is answered with status ${statusCode}`);
  if ((sent['content-encoding'] ?? 'identity') !== 'identity') throw new Refusal('is sent packed');
  if (Number(sent['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  let type: ImageType | null = null;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    if (type !== null || bytes < IMAGE_TYPE_BYTES) continue;
    type = imageTypeOf(Buffer.concat(chunks));
    if (type === null) break;
  }
  if (type === null) throw new Refusal('leads to no PNG, JPEG, WebP or GIF image');
  return { ok: true, contentType: type, bytes: Buffer.concat(chunks) };
}

const tooLarge = (bytesMax: number): Refusal => new Refusal(`leads to more than ${bytesMax} bytes`);

/** Name servers know nothing of signals. */
function until<T>(done: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    done.then(resolve, reject);
  });
}
