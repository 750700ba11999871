import { lookup as lookUp } from 'node:dns/promises';
import type { ProviderSettings } from '#core/catalog/catalog-settings.ts';
import { systemClock } from '#core/clock.ts';
import { NAME_LOOKUP_MS } from '#core/limits.ts';
import { isPrivateAddress } from '#core/private-address.ts';
import { atMost } from '#core/wait.ts';
import type { ProviderFile } from './provider-file.ts';
import { formatsOf } from './to-settings.ts';

/** The addresses that a connection to this host would be made to. Rejects where there is none. */
export type LookupHost = (host: string) => Promise<readonly string[]>;

export const lookupHost: LookupHost = async (host) =>
  (await lookUp(host, { all: true })).map(({ address }) => address);

/** An address at which every server is one of the operator's own. */
const OWN_ADDRESS = 'http://127.0.0.1';

interface Settled {
  settings: ProviderSettings;
  /** A sentence that the operator must read; `null`: there is none. */
  notice: string | null;
}

/**
 * A server of kind `openai` in the operator's own network takes fields and links from anybody who reaches it, so it is treated
 * with care until the operator has written its dialect down. Names are looked up, because a public name may lead to a private
 * address; one that cannot be looked up counts as private.
 */
export async function settleDialect(
  settings: ProviderSettings,
  file: Pick<ProviderFile, 'dialect' | 'formats'>,
  lookup: LookupHost,
): Promise<Settled> {
  const { configuration } = settings.kind;
  if (configuration.dialects === null || file.dialect !== undefined) return { settings, notice: null };
  const { dialect, id } = settings;
  const selfHosted = configuration.dialectAt(OWN_ADDRESS);
  if (dialect === selfHosted) return { settings, notice: noticeOf(id, 'is at a private address') };
  // The address of a vendor is known.
  if (dialect.hosts.length > 0) return { settings, notice: null };
  const host = new URL(settings.baseUrl ?? '').hostname.replace(/^\[|\]$/g, '');
  const addresses = await addressesOf(host, lookup);
  if (addresses.length > 0 && !addresses.some(isPrivateAddress)) return { settings, notice: null };
  const formats = formatsOf(file) ?? selfHosted.formats;
  const why = addresses.length === 0 ? 'has a name that could not be resolved' : 'is at a private address';
  return { settings: { ...settings, dialect: selfHosted, formats }, notice: noticeOf(id, why) };
}

const addressesOf = (host: string, lookup: LookupHost): Promise<readonly string[]> =>
  atMost(
    systemClock,
    lookup(host).catch(() => []),
    NAME_LOOKUP_MS,
    [],
  );

const noticeOf = (id: string, why: string): string =>
  `Provider ${id} ${why} and names no dialect, so it is sent only fields that are known to be harmless, and linked images ` +
  'are fetched by the gateway. Name its server, such as `dialect: vllm`; `dialect: other` sends it every field and link.';
