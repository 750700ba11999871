import { html } from '../lib/html.js';
import { fromNow, longTime, shortTime } from '../lib/time.js';
import { fromNano, numberToUsd, toNano } from '../lib/usd.js';
import { Notice } from './notice.js';
import { ProblemNotice } from './problem-notice.js';
import { Usd } from './usd.js';
import { VideoPlayer } from './video-player.js';

/** @typedef {import('../client/videos.js').OwnVideo} OwnVideo */
/** @typedef {import('../client/records.d.ts').VideoJob} VideoJob */

/** What each status is called, and looks like. */
const statuses = {
  pending: ['Waiting to begin', 'pending'],
  in_progress: ['Being made', 'running'],
  completed: ['Done', 'ok'],
  failed: ['Failed', 'failed'],
  expired: ['Expired', 'stopped'],
};

/** A video as it is now. @param {{ video: OwnVideo, onForget: (id: string) => void }} props */
export const VideoCard = ({ video, onForget }) => html`
  <article class="card made">
    <header class="made-head">
      <div>
        <h2 class="caption"><bdi>${video.prompt}</bdi></h2>
        <p class="soft small">
          <code>${video.id}</code>
          ${video.job !== null && html` · <bdi>${video.job.model}</bdi> · <time datetime=${video.job.created_at} title=${longTime(video.job.created_at)}>${shortTime(video.job.created_at)}</time>`}
        </p>
      </div>
      <p role="status"><${Status} job=${video.job} /></p>
    </header>
    <${ProblemNotice} problem=${video.problem} />
    <${Screen} video=${video} />
    ${video.job !== null && html`<${Money} job=${video.job} />`}
    ${
      (video.job === null ? video.problem !== null : ended(video.job)) &&
      html`<p><button type="button" class="link" onClick=${() => onForget(video.id)}>Remove from this list</button></p>`
    }
  </article>
`;

/** @param {{ job: VideoJob | null }} props */
function Status({ job }) {
  if (job === null) return null;
  const [words, look] = statuses[job.status];
  return html`<span class=${`badge badge-${look}`}>${words}</span>`;
}

/** @param {VideoJob} job */
const ended = ({ status }) => status !== 'pending' && status !== 'in_progress';

/** Where the video plays: there from the beginning, so that nothing moves when it is done. @param {{ video: OwnVideo }} props */
function Screen({ video: { id, job, problem, prompt, aspectRatio } }) {
  if (job === null) {
    return (
      problem === null &&
      html`<div class="screen soft" style=${{ '--ratio': ratioOf(aspectRatio) }} role="status">Loading…</div>`
    );
  }
  switch (job.status) {
    case 'completed':
      return html`<${VideoPlayer} id=${id} name=${prompt} ratio=${ratioOf(aspectRatio)} />`;
    case 'failed':
      return html`<${Notice} tone="bad">
        <p>${failureWords(job.error?.code ?? '')}</p>
        <p class="notice-foot"><code>${job.error?.code}</code></p>
      <//>`;
    case 'expired':
      return html`<${Notice}><p>Its file was deleted 30 days after it was made.</p><//>`;
    default:
      return html`<div class="screen" style=${{ '--ratio': ratioOf(aspectRatio) }}>
        <div class="screen-wait">
          <progress aria-label="Being made"></progress>
          <p class="soft small">Ordered ${fromNow(job.created_at)}. You may look at other pages meanwhile.</p>
        </div>
      </div>`;
  }
}

/** Of `16:9`; a square for what is none. @param {string} text */
function ratioOf(text) {
  const [, width, height] = /^(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const ratio = Number(width) / Number(height);
  return ratio > 0.2 && ratio < 5 ? ratio : 1;
}

/** @param {{ job: VideoJob }} props */
function Money({ job: { status, estimated_cost: estimated, usage, expires_at: expires } }) {
  const held = numberToUsd(estimated);
  const charged = usage === null ? (status === 'failed' ? '0' : null) : numberToUsd(usage.cost);
  return html`
    <div class="receipt" role="group" aria-label="Receipt">
      <dl>
        <div><dt>${charged === null ? 'Held, the most that it can cost' : 'Was held'}</dt><dd><${Usd} usd=${held} /></dd></div>
        <div><dt>Charged</dt><dd>${charged === null ? 'when it is done' : html`<strong><${Usd} usd=${charged} /></strong>`}</dd></div>
        ${charged !== null && html`<div><dt>Given back</dt><dd><${Usd} usd=${fromNano(toNano(held) - toNano(charged))} /></dd></div>`}
        ${expires !== null && status === 'completed' && html`<div><dt>File is deleted</dt><dd><time datetime=${expires} title=${longTime(expires)}>${fromNow(expires)}</time></dd></div>`}
      </dl>
    </div>
  `;
}

/** Why a video was not made, by the code of its job. @type {Readonly<Record<string, string>>} */
const words = {
  content_refused: 'The model refused what was asked for. Word it differently, or take another model.',
  generation_failed: 'The model began, and could not finish it. The same order may succeed.',
  invalid_input: 'The model could not use what was sent: look at the images and settings of the order.',
  provider_unavailable: 'No provider could take it in time. Order it again in a while.',
  timed_out: 'It took too long, and was given up.',
  submission_unknown:
    'The provider never said whether it took the order, so it was given up and not sent twice.',
  result_unavailable: 'It was made, and its file could not be fetched.',
  gateway_error: 'Something failed inside the gateway.',
};

/** @param {string} code */
const failureWords = (code) =>
  `${Object.hasOwn(words, code) ? words[code] : 'It could not be made.'} Nothing was charged.`;
