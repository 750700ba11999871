import { join } from 'node:path';

export interface TreeCommand {
  tree: string;
  folder: string;
  /** `10001:10001`. */
  user: string;
  /** `ro`: only /tmp and the data folder can be written. */
  mode: 'rw' | 'ro';
  /** A folder of this machine in the place of /var/lib/faregate. */
  data: string | null;
  command: readonly string[];
}

/** The command line that runs another one inside a tree, for root on Linux. A signal to its process reaches that one. */
export const enterTree = ({
  tree,
  folder,
  user,
  mode,
  data,
  command,
}: TreeCommand): [string, ...string[]] => [
  'unshare',
  ...['--mount', '--', 'sh', join(import.meta.dirname, 'enter-tree.sh')],
  ...[tree, folder, user, mode, data ?? '', ...command],
];

/** Why trees cannot be entered here, in a sentence. */
export function whyNoTree(): string | null {
  if (process.platform !== 'linux') return 'A tree is built and tried on Linux only.';
  if (process.getuid?.() !== 0) return 'A tree is built and tried as root, who alone can mount.';
  return null;
}
