import { useEffect, useRef, useState } from '/console/vendor/preact-hooks.js';
import { useGateway } from '../client/gateway.js';
import { problem as problemOf } from '../client/problem.js';
import { html } from '../lib/html.js';
import { Icon } from './icon.js';
import { ProblemNotice } from './problem-notice.js';

/** @typedef {import('../client/problem.js').Problem} Problem */

/**
 * Asks for the file's link when somebody wants to see it, and again when it has ended: it is good for an hour.
 *
 * @param {{ id: string, name: string, ratio: number }} props
 */
export function VideoPlayer({ id, name, ratio }) {
  const { videos } = useGateway();
  const [link, setLink] = useState(/** @type {string | null} */ (null));
  const [loading, setLoading] = useState(false);
  const [problem, setProblem] = useState(/** @type {Problem | null} */ (null));
  const player = useRef(/** @type {HTMLVideoElement | null} */ (null));
  // The button that had the focus is gone.
  useEffect(() => player.current?.focus({ preventScroll: true }), [link]);

  async function load() {
    setLoading(true);
    setProblem(null);
    const result = await videos.link(id);
    setLoading(false);
    if (result.ok) setLink(result.value);
    else setProblem(result.problem);
  }
  function fail() {
    setLink(null);
    setProblem(
      problemOf('refused', 'The file could not be played. If its link has ended, a new one will do.').problem,
    );
  }
  return html`
    <${ProblemNotice} problem=${problem} />
    <div class="screen" style=${{ '--ratio': ratio }}>
      ${
        link === null
          ? html`<button type="button" class="screen-play" aria-busy=${loading} aria-label=${`Play: ${name}`} onClick=${load}>
              <${Icon} name="play" /><span>${loading ? 'Loading…' : 'Play'}</span>
            </button>`
          : html`<video ref=${player} src=${link} aria-label=${name} controls autoplay playsinline onError=${fail}></video>`
      }
    </div>
    ${link !== null && html`<p class="small"><a href=${link} target="_blank" rel="noopener noreferrer">Open the file</a></p>`}
  `;
}
