import { useState } from '/console/vendor/preact-hooks.js';
import { useGateway } from '../client/gateway.js';
import { html } from '../lib/html.js';
import { Icon } from './icon.js';
import { ProblemNotice } from './problem-notice.js';

/** @typedef {import('../client/problem.js').Problem} Problem */

/**
 * Asks for the file's link when somebody wants to see it, and once more when it has ended: it is good for an hour.
 *
 * @param {{ id: string, name: string, ratio: number }} props
 */
export function VideoPlayer({ id, name, ratio }) {
  const { videos } = useGateway();
  const [link, setLink] = useState(/** @type {string | null} */ (null));
  const [loading, setLoading] = useState(false);
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));

  async function load() {
    setLoading(true);
    setProblem(null);
    const result = await videos.link(id);
    setLoading(false);
    if (result.ok) setLink(result.value);
    else setProblem(result.problem);
  }
  return html`
    <${ProblemNotice} problem=${problem} retry=${load} />
    <div class="screen" style=${{ '--ratio': ratio }}>
      ${
        link === null
          ? html`<button type="button" class="screen-play" disabled=${loading} aria-label=${`Play: ${name}`} onClick=${load}>
              <${Icon} name="play" /><span>${loading ? 'Loading…' : 'Play'}</span>
            </button>`
          : html`<video key=${link} src=${link} aria-label=${name} controls autoplay playsinline onError=${() => setLink(null)}></video>`
      }
    </div>
    ${link !== null && html`<p class="small"><a href=${link} target="_blank" rel="noopener noreferrer">Open the file</a></p>`}
  `;
}
