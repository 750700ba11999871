/** The `format` of reasoning in a chat's history says that a server of this kind has signed it, such as `anthropic-claude-v1`. */
export const isOwnReasoning = (format: string): boolean => format.startsWith('anthropic');
