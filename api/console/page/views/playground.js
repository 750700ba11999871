import { useEffect, useRef, useState } from '/console/vendor/preact-hooks.js';
import { useGateway } from '../client/gateway.js';
import { useResource } from '../client/use-resource.js';
import { fieldValue, html } from '../lib/html.js';
import { count } from '../lib/numbers.js';
import { useStore } from '../lib/store.js';
import { ModelField } from '../parts/model-field.js';
import { Empty } from '../parts/notice.js';
import { PageHead } from '../parts/page-head.js';
import { PlayTabs } from '../parts/play-tabs.js';
import { ProblemNotice } from '../parts/problem-notice.js';
import { TextField } from '../parts/text-field.js';
import { TurnView } from '../parts/turn.js';

/** @typedef {import('../client/records.d.ts').Model} Model */

/** Long enough to answer, short enough to hold cents. */
const USUAL_TOKENS = '512';

export function PlaygroundView() {
  const { conversation } = useGateway();
  const { turns, running } = useStore(conversation.store);
  /** @type {import('../client/use-resource.js').Resource<{ data: Model[] }>} */
  const models = useResource('models', (gateway) => gateway.v1('/models'));
  const all = models.value?.data ?? [];
  const [typedModel, setModel] = useState(turns.at(-1)?.model ?? null);
  const [tokens, setTokens] = useState(USUAL_TOKENS);
  const [prompt, setPrompt] = useState('');
  const model = typedModel ?? all[0]?.id ?? '';
  const end = useRef(/** @type {HTMLDivElement | null} */ (null));
  const last = turns.at(-1);

  // What is being written stays in sight, unless somebody has scrolled away from it.
  useEffect(() => {
    const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
    if (scrollHeight - clientHeight - scrollTop < 200) end.current?.scrollIntoView({ block: 'end' });
  }, [turns.length, last?.answer, last?.state, last?.leftUsd]);

  function send(/** @type {Event} */ event) {
    event.preventDefault();
    if (running || prompt.trim() === '' || model === '') return;
    const maxTokens = tokens.trim() === '' ? null : Number(tokens);
    void conversation.ask({ model, prompt: prompt.trim(), maxTokens }).then(keepUnanswered);
    setPrompt('');
  }
  /** Nobody should have to type again what was refused. @param {import('../client/conversation.js').Turn} turn */
  const keepUnanswered = (turn) => {
    if (turn.state === 'failed' && turn.answer === '')
      setPrompt((typed) => (typed === '' ? turn.prompt : typed));
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    // As the button does it: the browser looks at the other fields first.
    /** @type {HTMLTextAreaElement} */ (event.currentTarget).form?.requestSubmit();
  };

  return html`
    <${PageHead} title="Playground" about="Try a model. Answers are charged like any other call.">
      ${
        turns.length > 0 &&
        html`<button type="button" class="button" disabled=${running} onClick=${conversation.clear}>New conversation</button>`
      }
    <//>
    <${PlayTabs} current="playground" />
    <${ProblemNotice} problem=${models.problem} retry=${models.reload} />
    <div class="turns" role="log" aria-label="Conversation" aria-busy=${running}>
      ${turns.map((turn, index) => html`<${TurnView} key=${index} turn=${turn} />`)}
    </div>
    ${
      turns.length === 0 &&
      html`<${Empty} title="Ask something">
        <p>
          The gateway first holds the worst case: what the longest answer that you allow would cost. When the answer ends, it
          charges the real cost and gives the rest back. Both show under each answer.
        </p>
      <//>`
    }
    <form class="composer card" onSubmit=${send}>
      <div class="composer-row">
        <${ModelField} models=${models.value?.data ?? null} value=${model} onPick=${setModel} describe=${textPrices} />
        <div class="field">
          <label for="tokens">Longest answer</label>
          <div class="with-unit">
            <input
              id="tokens"
              type="number"
              min="1"
              step="1"
              value=${tokens}
              placeholder="as long as it can"
              onInput=${(/** @type {Event} */ event) => setTokens(fieldValue(event))}
            />
            <span class="soft">tokens</span>
          </div>
        </div>
      </div>
      <${TextField}
        id="prompt"
        label="Your message"
        hint="Enter sends, Shift and Enter begin a new line."
        value=${prompt}
        onInput=${setPrompt}
        onKeyDown=${onKey}
      />
      <div class="dialog-actions">
        ${
          running
            ? html`<button type="button" class="button danger" onClick=${conversation.stop}>Stop</button>`
            : html`<button type="submit" class="button primary" disabled=${prompt.trim() === '' || model === ''}>Send</button>`
        }
      </div>
    </form>
    <div ref=${end}></div>
  `;
}

const MILLION_DIGITS = 6;

/** @param {import('../client/records.d.ts').Model} model */
function textPrices({ pricing, context_length: context }) {
  const { prompt, completion } = pricing;
  return `$${perMillion(prompt)} in, $${perMillion(completion)} out a million tokens · ${count(context)} tokens of context`;
}

/** Moves the point of a price of one token, digit by digit. @param {string} usd */
function perMillion(usd) {
  const [whole = '0', fraction = ''] = usd.split('.');
  const digits = fraction.padEnd(MILLION_DIGITS, '0');
  const moved = `${whole}${digits.slice(0, MILLION_DIGITS)}`.replace(/^0+(?=\d)/, '');
  const rest = digits.slice(MILLION_DIGITS).replace(/0+$/, '');
  return `${moved}${rest === '' ? '' : `.${rest.padEnd(2, '0')}`}`;
}
