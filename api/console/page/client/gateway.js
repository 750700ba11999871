import { createContext } from '/console/vendor/preact.js';
import { useContext } from '/console/vendor/preact-hooks.js';
import { createStore } from '../lib/store.js';
import { readV1, sendV1 } from './ask.js';
import { callTool } from './call-tool.js';
import { createConversation } from './conversation.js';
import { createImages } from './images.js';
import { createVideos } from './videos.js';

/** @template T @typedef {import('./problem.js').Result<T>} Result */

/**
 * The gateway as one key sees it.
 *
 * @typedef {object} GatewayCalls
 * @property {string} key
 * @property {<T>(name: string, args?: Record<string, unknown>) => Promise<Result<T>>} tool
 * @property {<T>(path: string) => Promise<Result<T>>} v1
 * @property {<T>(path: string, body: object, headers?: Record<string, string>) => Promise<Result<T>>} sendV1
 * @property {<T>(result: Result<T>) => Result<T>} checked Signs out where the answer says that the key is no good.
 * @property {Map<string, any>} resources
 * @property {import('../lib/store.js').Store<{ shown: import('./records.d.ts').CreatedKey | null }>} newKey The one that was made last, until its owner has it.
 * @property {(message?: string) => void} signOut
 */

/**
 * With what was asked and made by it so far. It ends with the key.
 *
 * @typedef {GatewayCalls & {
 *   conversation: import('./conversation.js').Conversation,
 *   images: import('./images.js').Images,
 *   videos: import('./videos.js').Videos,
 * }} Gateway
 */

/**
 * @param {string} key
 * @param {(message?: string) => void} signOut
 * @returns {Gateway}
 */
export function createGateway(key, signOut) {
  const checked = (/** @type {Result<any>} */ result) => {
    if (!result.ok && result.problem.kind === 'unauthorized') signOut(result.problem.message);
    return result;
  };
  /** @type {GatewayCalls} */
  const gateway = {
    key,
    tool: async (name, args) => checked(await callTool(key, name, args)),
    v1: async (path) => checked(await readV1(key, path)),
    sendV1: async (path, body, headers) => checked(await sendV1(key, path, body, headers)),
    checked,
    resources: new Map(),
    newKey: createStore({ shown: null }),
    signOut,
  };
  return {
    ...gateway,
    conversation: createConversation(gateway),
    images: createImages(gateway),
    videos: createVideos(gateway),
  };
}

export const GatewayContext = createContext(/** @type {Gateway | null} */ (null));

/** @returns {Gateway} */
export function useGateway() {
  const gateway = useContext(GatewayContext);
  if (gateway === null) throw new Error('Only a signed-in page has a gateway.');
  return gateway;
}
