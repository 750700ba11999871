import type { FileStore, LinkOwner } from '#core/files/file-store.ts';
import type { OwnerOf } from './linked-media.ts';

/** @param files - `null`: this gateway keeps none, so no link leads to one. */
export function linkOwner(files: Pick<FileStore, 'parseLink'> | null, agentId: number): OwnerOf {
  if (files === null) return () => FOREIGN;
  // A body of four megabytes may name one link twenty thousand times.
  const known = new Map<string, LinkOwner>();
  return (link) => {
    const owner = known.get(link) ?? ownerFor(files.parseLink(link), agentId);
    known.set(link, owner);
    return owner;
  };
}

const FOREIGN: LinkOwner = { kind: 'foreign' };

const ownerFor = (owner: LinkOwner, agentId: number): LinkOwner =>
  owner.kind === 'ours' && owner.name.agentId !== agentId ? { kind: 'refused', reason: 'forged' } : owner;
