import { GIGABYTE, MEGABYTE } from './limits.ts';

/** Rounded down, so that what is said to be there is there: `1.2 GB`, `340 MB`, `12 KB`. */
export function formatBytes(bytes: number): string {
  if (bytes >= GIGABYTE) return `${Math.floor((bytes / GIGABYTE) * 10) / 10} GB`;
  if (bytes >= MEGABYTE) return `${Math.floor(bytes / MEGABYTE)} MB`;
  return `${Math.floor(bytes / 1024)} KB`;
}
