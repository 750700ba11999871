import { useState } from '/console/vendor/preact-hooks.js';
import { useGateway } from '../client/gateway.js';
import { useResource } from '../client/use-resource.js';
import { html } from '../lib/html.js';
import { useStore } from '../lib/store.js';
import { usdText } from '../lib/usd.js';
import { useNewestInSight } from '../lib/use-newest-in-sight.js';
import { ImageFields, takenOf } from '../parts/image-fields.js';
import { ImageSetView } from '../parts/image-set.js';
import { ModelField } from '../parts/model-field.js';
import { Empty, Notice } from '../parts/notice.js';
import { PageHead } from '../parts/page-head.js';
import { PlayTabs } from '../parts/play-tabs.js';
import { ProblemNotice } from '../parts/problem-notice.js';
import { TextField } from '../parts/text-field.js';

/** @typedef {import('../client/records.d.ts').ImageModel} ImageModel */

export function ImagesView() {
  const { images } = useGateway();
  const { sets } = useStore(images.store);
  const list = useNewestInSight(sets.length);
  /** @type {import('../client/use-resource.js').Resource<{ data: ImageModel[] }>} */
  const models = useResource('image models', (gateway) => gateway.v1('/images/models'));
  const all = models.value?.data ?? null;
  const [typed, setTyped] = useState(sets[0]?.model ?? null);
  const [values, setValues] = useState(/** @type {Record<string, string | number | boolean>} */ ({}));
  const [prompt, setPrompt] = useState('');
  const [links, setLinks] = useState('');
  const id = typed ?? all?.[0]?.id ?? '';
  const model = all?.find((each) => each.id === id);
  const parameters = model?.parameters ?? {};
  const references = model?.reads_images === true ? referencesIn(links) : [];
  const taken = takenOf(parameters, values);
  const ready = id !== '' && prompt.trim() !== '';

  function make(/** @type {Event} */ event) {
    event.preventDefault();
    if (!ready) return;
    const looking = references.length === 0 ? {} : { input_references: references };
    void images.make({ model: id, prompt: prompt.trim(), ...taken, ...looking });
  }
  const pick = (/** @type {string} */ name, /** @type {string | number | boolean | null} */ value) =>
    setValues(({ [name]: _, ...rest }) => (value === null ? rest : { ...rest, [name]: value }));

  return html`
    <${PageHead} title="Images" about="Have a model make images. They are charged like any other call." />
    <${PlayTabs} current="pictures" />
    <${ProblemNotice} problem=${models.problem} retry=${models.reload} />
    ${all?.length === 0 && html`<${Notice}><p>No models of images are served here at the moment.</p><//>`}
    <form class="composer card" onSubmit=${make}>
      <${ModelField} models=${all} value=${id} onPick=${setTyped} describe=${imagePrices} />
      <${ImageFields} parameters=${parameters} values=${taken} onPick=${pick} />
      ${
        model?.reads_images === true &&
        html`<${TextField} id="references" label="Images to look at" hint="https links, one a line. They may be left out." rows="2" spellcheck=${false} value=${links} onInput=${setLinks} />`
      }
      <${TextField}
        id="prompt"
        label="What to show"
        hint="Links to images are good for seven days: save what you want to keep."
        required
        value=${prompt}
        onInput=${setPrompt}
      />
      <div class="dialog-actions">
        <button type="submit" class="button primary" disabled=${!ready}>Make images</button>
      </div>
    </form>
    ${
      sets.length === 0 &&
      html`<${Empty} title="No images in this tab yet">
        <p>The most that they can cost is held while they are made. This tab remembers what you make in it.</p>
      <//>`
    }
    <section aria-label="Your images" ref=${list}>
      ${sets.map((set, index) => html`<${ImageSetView} key=${sets.length - index} set=${set} />`)}
    </section>
  `;
}

/** The name of each billed thing. @type {Readonly<Record<string, string>>} */
const things = {
  output_image: 'made',
  input_image: 'read',
  input_reference: 'as a reference',
  input_text: 'of prompt',
};

/** @param {import('../client/records.d.ts').ImageModel} model */
const imagePrices = ({ pricing }) =>
  pricing
    .map(({ billable, unit, usd, variant }) => {
      const what = Object.hasOwn(things, billable) ? things[billable] : billable;
      return `${usdText(usd)} per ${unit} ${what}${variant === undefined ? '' : ` (${variant})`}`;
    })
    .join(' · ');

/** Images for a model to look at, by their links. @param {string} text */
const referencesIn = (text) =>
  text
    .split(/\s+/)
    .filter((link) => link !== '')
    .map((url) => ({ type: 'image_url', image_url: { url } }));
