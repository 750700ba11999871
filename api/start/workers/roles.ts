/** What a worker process can do; several at once, and each in any number of processes. */
export const roles = ['settlement', 'projector', 'video', 'market'] as const;
export type Role = (typeof roles)[number];

/** From the command line; without any, all. Throws `RoleError`. */
export function parseRoles(words: readonly string[]): readonly Role[] {
  const unknown = words.filter((word) => !isRole(word));
  if (unknown.length > 0) {
    throw new RoleError(`No such role: ${unknown.join(', ')}. There are ${roles.join(', ')}.`);
  }
  return words.length === 0 ? roles : roles.filter((role) => words.includes(role));
}

export class RoleError extends Error {
  override readonly name = 'RoleError';
}

const isRole = (word: string): word is Role => roles.some((role) => role === word);
