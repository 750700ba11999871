/**
 * Whose of several equals something is: the highest score wins, so that who comes or goes moves nothing between the
 * others. `null`: there is nobody.
 */
export function memberOf(members: readonly string[], id: string): string | null {
  let owner: string | null = null;
  let highest = -1;
  for (const member of members) {
    const score = scoreOf(`${member}:${id}`);
    if (score > highest) {
      highest = score;
      owner = member;
    }
  }
  return owner;
}

/** FNV-1a, stirred: texts that differ in one letter are far apart. */
function scoreOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
