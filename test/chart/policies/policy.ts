import type { Render } from '../render.ts';

/** A promise that every render keeps. */
export interface Policy {
  name: string;
  /** Each in a sentence that begins with the object. */
  find: (render: Render) => string[];
}
