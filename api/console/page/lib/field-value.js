/** What stands in the field that an event came from. @param {Event} event */
export const fieldValue = ({ currentTarget }) =>
  /** @type {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} */ (currentTarget).value;
