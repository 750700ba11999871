/** Whether the client says (`if-none-match`) that it has this version. A proxy may have made the tag a weak one. */
export const hasEtag = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag) ?? false;
