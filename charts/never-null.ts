import { flatten, type Value } from './read-values.ts';

/** Paths of the values that templates read as they are, a block before what is in it. What `pod` leaves out is left out of the pod. */
export const neverNull = (values: readonly Value[]): string[] =>
  flatten(values)
    .filter(({ path, hint }) => !path.startsWith('pod.') && ![hint.type].flat().includes('null'))
    .map(({ path }) => path);
