/** The key stays in this tab: closing it forgets the key, and other tabs never see it. */
const NAME = 'faregate.key';

export const keptKey = () => sessionStorage.getItem(NAME);

/** @param {string} key */
export const keepKey = (key) => sessionStorage.setItem(NAME, key);

/** And all that was made with it. */
export const forgetKey = () => sessionStorage.clear();

/*
 * What was made in this tab, so that a reload shows it again: neither images nor videos are listed by the gateway. It
 * goes with the key.
 */
const KEPT_MAX = 50;

/** @template T @param {string} name @returns {readonly T[]} Newest first. */
export const keptList = (name) => JSON.parse(sessionStorage.getItem(`faregate.${name}`) ?? '[]');

/** @param {string} name @param {readonly unknown[]} list Newest first. */
export const keepList = (name, list) =>
  sessionStorage.setItem(`faregate.${name}`, JSON.stringify(list.slice(0, KEPT_MAX)));

/** As much of a prompt as tells one from another. */
const CAPTION_LETTERS = 200;

/** @param {string} prompt */
export function captionOf(prompt) {
  const letters = [...prompt.slice(0, 2 * CAPTION_LETTERS)];
  return letters.length <= CAPTION_LETTERS ? prompt : `${letters.slice(0, CAPTION_LETTERS).join('')}…`;
}
