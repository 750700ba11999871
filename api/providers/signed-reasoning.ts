/** The name that routers have for reasoning which a server of the messages format has signed. */
export const OWN_REASONING_FORMAT = 'anthropic-claude-v1';

/** The `format` of reasoning in a chat's history says that a server of this kind has signed it, such as `anthropic-claude-v1`. */
export const isOwnReasoning = (format: string): boolean => format.startsWith('anthropic');
