/* What the page does beyond being read: buttons that copy, where in the contents the reader is, the API reference. */

addCopyButtons();
followReader();
showReferenceWhenNear();

function addCopyButtons() {
  // Only a page that came over TLS, or from this machine, has it.
  if (navigator.clipboard === undefined) return;
  // What changes in a button nobody hears.
  const heard = document.createElement('div');
  heard.className = 'unseen';
  heard.setAttribute('role', 'status');
  document.body.append(heard);
  let heading = '';
  /** Blocks under each heading so far: two guides may have one of the same words. */
  const numbers = new Map();
  for (const part of document.querySelectorAll('main h2, main h3, .to-copy')) {
    if (!part.matches('.to-copy')) {
      // Behind its words is the sign that links to it.
      heading = part.textContent.replace(/ #$/, '');
      continue;
    }
    const number = (numbers.get(heading) ?? 0) + 1;
    numbers.set(heading, number);
    part.append(copyButton(part, `${heading}, block ${number}`, heard));
  }
}

/**
 * @param {Element} sample
 * @param {string} name
 * @param {HTMLElement} heard
 */
function copyButton(sample, name, heard) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy: ${name}`);
  button.addEventListener('click', async () => {
    const text = sample.querySelector('code')?.textContent ?? '';
    const told = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not allowed',
    );
    button.textContent = told;
    heard.textContent = told;
    setTimeout(() => {
      button.textContent = 'Copy';
      heard.textContent = '';
    }, 2000);
  });
  return button;
}

/** Marks in the contents what is read: the last heading that has come up to where links lead. */
function followReader() {
  /** The top bar's height, and a little. */
  const LED_TO_PX = 100;
  const headings = [...document.querySelectorAll('main h2[id], main h3[id]')];
  const links = new Map(
    [...document.querySelectorAll('nav a')].map((link) => [link.getAttribute('href')?.slice(1) ?? '', link]),
  );
  let asked = false;
  const mark = () => {
    asked = false;
    const read = headings.findLast((each) => each.getBoundingClientRect().top < LED_TO_PX) ?? headings[0];
    for (const link of links.values()) {
      link.removeAttribute('aria-current');
      link.closest('nav > ul > li')?.classList.remove('open');
    }
    const link = links.get(read?.id ?? '');
    link?.setAttribute('aria-current', 'true');
    link?.closest('nav > ul > li')?.classList.add('open');
  };
  const askOnce = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(mark);
  };
  addEventListener('scroll', askOnce, { passive: true });
  addEventListener('hashchange', askOnce);
  mark();
}

/** It is larger than all the rest, so it comes when somebody is about to read it. */
function showReferenceWhenNear() {
  const place = document.querySelector('#api');
  if (!(place instanceof HTMLElement)) return;
  const near = new IntersectionObserver(
    (seen) => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
      near.disconnect();
      showReference(place);
    },
    { rootMargin: '800px' },
  );
  near.observe(place);
}

/** @param {HTMLElement} place */
function showReference(place) {
  const { assets = '' } = place.dataset;
  place.textContent = 'Loading…';
  followDarkness();
  nameParts(place);
  const style = document.createElement('link');
  style.rel = 'stylesheet';
  style.href = `${assets}/swagger-ui.css`;
  const script = document.createElement('script');
  script.src = `${assets}/swagger-ui-bundle.js`;
  script.addEventListener('load', () => {
    // Declared by that script.
    const show = Reflect.get(window, 'SwaggerUIBundle');
    show({
      url: 'openapi.json',
      domNode: place,
      // Else each reader's document is sent to somebody else's server.
      validatorUrl: null,
      defaultModelsExpandDepth: 0,
      docExpansion: 'list',
      persistAuthorization: false,
      // Its colours are hard to read.
      syntaxHighlight: false,
    });
  });
  script.addEventListener('error', () => {
    place.textContent = 'The reference could not be loaded. Load the page again, or read openapi.json.';
  });
  document.head.append(style, script);
}

/**
 * Says aloud what the reference only shows, and lets a keyboard scroll its examples, as often as it draws a part anew.
 *
 * @param {HTMLElement} place
 */
function nameParts(place) {
  const name = () => {
    for (const choice of place.querySelectorAll('select:not([aria-label])'))
      choice.setAttribute('aria-label', choice.id === 'servers' ? 'Server' : 'Example or type');
    for (const example of place.querySelectorAll('pre:not([tabindex])'))
      example.setAttribute('tabindex', '0');
  };
  new MutationObserver(name).observe(place, { childList: true, subtree: true });
}

/** The reference wants to be told. */
function followDarkness() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const tell = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', tell);
  tell();
}
