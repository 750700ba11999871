import { useState } from '/console/vendor/preact-hooks.js';
import { html } from '../lib/html.js';
import { fromNow, longTime } from '../lib/time.js';
import { ProblemNotice } from './problem-notice.js';
import { Usd } from './usd.js';

/** @typedef {import('../client/images.js').ImageSet} ImageSet */

/** What was asked for, the images as far as they are there, and what they cost. @param {{ set: ImageSet }} props */
export const ImageSetView = ({ set: { model, prompt, state, images, chargeUsd, problem } }) => html`
  <article class="card made" aria-busy=${state === 'making'}>
    <header>
      <h2 class="caption"><bdi>${prompt}</bdi></h2>
      <p class="soft small"><bdi>${model}</bdi></p>
    </header>
    ${
      state === 'making' &&
      html`<div class="thumbs"><div class="thumb-frame soft" role="status">Being made…</div></div>`
    }
    ${
      state === 'failed' &&
      html`<${ProblemNotice} problem=${problem} />
        ${problem?.kind !== 'unknown' && html`<p class="soft small">Nothing was charged for it.</p>`}`
    }
    ${
      state === 'done' &&
      html`<ul class="thumbs">
          ${images.map(
            (image, index) => html`<${Thumbnail}
              key=${image.url}
              image=${image}
              name=${`Image ${index + 1} of ${images.length}: ${prompt}`}
            />`,
          )}
        </ul>
        <p class="small">Charged ${chargeUsd !== null && html`<strong><${Usd} usd=${chargeUsd} /></strong>`}</p>`
    }
  </article>
`;

/** The frame is there before the image, so that nothing moves when it comes. @param {{ image: ImageSet['images'][number], name: string }} props */
function Thumbnail({ image: { url, expires_at: ends }, name }) {
  const [missing, setMissing] = useState(false);
  return html`
    <li>
      <a class="thumb-frame" href=${url} target="_blank" rel="noopener noreferrer">
        ${
          missing
            ? html`<span class="soft">${Date.parse(ends) < Date.now() ? 'Its link has ended.' : 'It could not be loaded.'}</span>`
            : html`<img src=${url} alt=${name} loading="lazy" onError=${() => setMissing(true)} />`
        }
      </a>
      <p class="soft small">Link ends <time datetime=${ends} title=${longTime(ends)}>${fromNow(ends)}</time></p>
    </li>
  `;
}
