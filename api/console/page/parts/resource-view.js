import { html } from '../lib/html.js';
import { ProblemNotice } from './problem-notice.js';

/**
 * Shows what was read. Until then a place for it; where reading failed, why, above what was read before.
 *
 * @template T
 * @param {{ resource: import('../client/use-resource.js').Resource<T>, children: (value: T) => unknown }} props
 */
export const ResourceView = ({ resource: { value, problem, reload }, children }) => html`
  <${ProblemNotice} problem=${problem} retry=${reload} />
  ${value !== null && children(value)}
  ${value === null && problem === null && html`<div class="skeleton" role="status">Loading…</div>`}
`;
