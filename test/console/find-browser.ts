import { findCommand } from '../services/run-command.ts';

/** A Chromium of this machine; or why its tests cannot run. `make browser` installs Debian's. */
export function findBrowser(): { chromium: string } | { missing: string } {
  const chromium = findCommand('chromium') ?? findCommand('chromium-browser');
  return chromium === null
    ? { missing: 'The console is tried in `chromium`, which is not on the PATH; `make browser` installs it.' }
    : { chromium };
}
