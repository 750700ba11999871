/** An address without the slashes that end it, so that a path can be appended. */
export function withoutEndSlashes(address: string): string {
  let end = address.length;
  while (address.charAt(end - 1) === '/') end--;
  return address.slice(0, end);
}
