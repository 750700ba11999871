/** The key stays in this tab: closing it forgets the key, and other tabs never see it. */
const NAME = 'faregate.key';

export const keptKey = () => sessionStorage.getItem(NAME);

/** @param {string} key */
export const keepKey = (key) => sessionStorage.setItem(NAME, key);

/** And all that was made with it, see `kept-list.js`. */
export const forgetKey = () => sessionStorage.clear();
