import { useState } from '/console/vendor/preact-hooks.js';
import { useGateway } from '../client/gateway.js';
import { useResource } from '../client/use-resource.js';
import { html } from '../lib/html.js';
import { count } from '../lib/numbers.js';
import { useStore } from '../lib/store.js';
import { usdText } from '../lib/usd.js';
import { ChoiceField } from './choice-field.js';
import { ModelField } from './model-field.js';
import { Notice } from './notice.js';
import { NumberField } from './number-field.js';
import { ProblemNotice } from './problem-notice.js';
import { TextField } from './text-field.js';

/** @typedef {import('../client/records.d.ts').VideoModel} VideoModel */
/** @typedef {{ duration: number | null, resolution: string | null, ratio: string | null, audio: boolean, seed: number | null }} Choice */

const PROMPT_LETTERS = 2000;
const SEED_MAX = 2 ** 31 - 1;
/** @type {Choice} */
const NOTHING = { duration: null, resolution: null, ratio: null, audio: false, seed: null };

/** Orders a video of what one of the models can. */
export function VideoForm() {
  const { videos } = useGateway();
  const { ordering, all: ordered } = useStore(videos.store);
  /** @type {import('../client/use-resource.js').Resource<{ data: VideoModel[] }>} */
  const models = useResource('video models', (gateway) => gateway.v1('/videos/models'));
  const all = models.value?.data ?? null;
  const [typed, setTyped] = useState(ordered[0]?.job?.model ?? null);
  const [choice, setChoice] = useState(NOTHING);
  const [prompt, setPrompt] = useState('');
  const [problem, setProblem] = useState(/** @type {import('../client/problem.js').Problem | null} */ (null));
  const id = typed ?? all?.[0]?.id ?? '';
  const model = all?.find((each) => each.id === id);
  const duration = kept(model?.supported_durations, choice.duration);
  const resolution = kept(model?.supported_resolutions, choice.resolution);
  const ratio = kept(model?.supported_aspect_ratios, choice.ratio);
  const ready = duration !== null && resolution !== null && ratio !== null && prompt.trim() !== '';
  const pick = (/** @type {Partial<Choice>} */ picked) => setChoice((before) => ({ ...before, ...picked }));

  async function order(/** @type {Event} */ event) {
    event.preventDefault();
    if (ordering || !ready || model === undefined) return;
    setProblem(null);
    const result = await videos.order({
      ...{ model: model.id, prompt: prompt.trim(), duration, resolution, aspect_ratio: ratio },
      ...(model.generate_audio ? { generate_audio: choice.audio } : {}),
      ...(model.seed && choice.seed !== null ? { seed: choice.seed } : {}),
    });
    // What was typed meanwhile is of the next one.
    if (result.ok) setPrompt((typed) => (typed === prompt ? '' : typed));
    else setProblem(result.problem);
  }

  return html`
    <${ProblemNotice} problem=${models.problem} retry=${models.reload} />
    ${all?.length === 0 && html`<${Notice}><p>No models of videos are served here at the moment.</p><//>`}
    <form class="composer card" onSubmit=${order}>
      <${ModelField} models=${all} value=${id} onPick=${setTyped} describe=${fromPrice} />
      <div class="fields">
        <${ChoiceField} label="Length" values=${model?.supported_durations ?? []} value=${duration} show=${seconds} onPick=${(/** @type {number} */ picked) => pick({ duration: picked })} />
        <${ChoiceField} label="Resolution" values=${model?.supported_resolutions ?? []} value=${resolution} onPick=${(/** @type {string} */ picked) => pick({ resolution: picked })} />
        <${ChoiceField} label="Aspect ratio" values=${model?.supported_aspect_ratios ?? []} value=${ratio} onPick=${(/** @type {string} */ picked) => pick({ ratio: picked })} />
        ${
          model?.generate_audio === true &&
          html`<${ChoiceField} label="Sound" values=${[false, true]} value=${choice.audio} show=${sound} onPick=${(/** @type {boolean} */ audio) => pick({ audio })} />`
        }
        ${
          model?.seed === true &&
          html`<${NumberField} label="Seed" min=${0} max=${SEED_MAX} value=${choice.seed} onPick=${(/** @type {number | null} */ seed) => pick({ seed })} />`
        }
      </div>
      <${TextField}
        id="prompt"
        label="What to show"
        hint=${`Up to ${count(PROMPT_LETTERS)} characters.`}
        required
        maxlength=${PROMPT_LETTERS}
        value=${prompt}
        onInput=${setPrompt}
      />
      <${ProblemNotice} problem=${problem} />
      <div class="dialog-actions">
        <button type="submit" class="button primary" disabled=${ordering || !ready}>${ordering ? 'Ordering…' : 'Order video'}</button>
      </div>
    </form>
  `;
}

/**
 * What was chosen, where this model takes it; else the first that it takes.
 *
 * @template T
 * @param {readonly T[] | undefined} values
 * @param {T | null} chosen
 */
const kept = (values = [], chosen) =>
  chosen !== null && values.includes(chosen) ? chosen : (values[0] ?? null);

/** @param {number} value */
const seconds = (value) => `${value} s`;

/** @param {boolean} on */
const sound = (on) => (on ? 'With sound' : 'Silent');

/** @param {VideoModel} model */
const fromPrice = ({ from_price: from }) =>
  `From ${usdText(String(from))} for the shortest, smallest video. The order shows what is held for it.`;
