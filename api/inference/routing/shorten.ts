/** A model's id as messages repeat it. */
export const shorten = (id: string): string =>
  id.length > MODEL_ID_CHARS_SHOWN ? `${id.slice(0, MODEL_ID_CHARS_SHOWN)}…` : id;

const MODEL_ID_CHARS_SHOWN = 100;
