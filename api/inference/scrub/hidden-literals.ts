import { domainToUnicode } from 'node:url';
import type { Hidden } from './scrub-words.ts';

/** From this length on a literal is looked for inside words, in any case, and across quotes that were put between. */
export const LONG_LITERAL_CHARS = 8;

/** `EMPTY` and its like are words, too: they are removed only as they were configured. */
export const isWordKey = (key: string): boolean =>
  key.length < 4 || (key.length < LONG_LITERAL_CHARS && /^[a-z]*$/i.test(key));

/** Every form in which a provider's address may stand in a sentence, the longest first. */
export function addressesOf({ baseUrl }: Hidden['provider']): string[] {
  const url = URL.parse(baseUrl);
  if (url === null) return [baseUrl];
  const { hostname, host, origin, port, protocol, pathname, username, password } = url;
  const bare = hostname.replace(/^\[|\]$/g, '');
  const usedPort = port || (protocol === 'https:' ? '443' : '80');
  const labels = labelsOf(bare);
  const parents = labels.slice(1, -1).map((_, at) => labels.slice(at + 1).join('.'));
  const secrets = [username, password].map(decodeURIComponentOrSame);
  const withPort = [hostname, bare].map((name) => `${name}:${usedPort}`);
  return [baseUrl, origin + pathname, origin, host, ...withPort, hostname, bare, domainToUnicode(bare)]
    .concat(parents, secrets)
    .filter((literal) => literal.length > 1)
    .sort((a, b) => b.length - a.length);
}

const labelsOf = (host: string): string[] =>
  /[a-z]/i.test(host) && !host.includes(':') ? host.split('.') : [];

/** Other names of a provider are the operator's id of it, labels of its host, and parts of its path such as an account. */
export function namesIn({ id, baseUrl }: Hidden['provider']): string[] {
  const { hostname = '', pathname = '' } = URL.parse(baseUrl) ?? {};
  const parts = [...labelsOf(hostname), ...pathname.split('/')].map(decodeURIComponentOrSame);
  const names = parts.filter((part) => part.length >= 4 && !/^v\d/.test(part));
  return [id, ...names].filter((name) => name.length > 1 && !EVERYDAY.has(name.toLowerCase()));
}

function decodeURIComponentOrSame(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Forms of both ids, the longest first: one may be a part of the other. */
export function modelLiterals(upstreamModel: string, publicModel: string): string[] {
  if (upstreamModel === publicModel) return [publicModel];
  const last = upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1);
  const untagged = last.split(':')[0] ?? '';
  const forms = [upstreamModel, upstreamModel.replaceAll('/', '--'), last, untagged];
  const telling = forms.filter((form) => form.length >= 3 && !EVERYDAY.has(form.toLowerCase()));
  // As a sentence names it: `Llama 3.1 70B Instruct`. Without a digit that may be any two words.
  const spoken = telling
    .filter((form) => /\d/.test(form))
    .flatMap((form) => [form.replaceAll(/[-_]/g, ' '), form.replaceAll('-', '_'), form.replaceAll('_', '-')]);
  return [...new Set([publicModel, ...telling, ...spoken])].sort((a, b) => b.length - a.length);
}

/** Words that tell nobody who answers, although an id, a label of a host or a model may be one of them. */
const EVERYDAY: ReadonlySet<string> = new Set(
  `accounts ai api apis app backend backup base beta bot chat cheap client cloud cluster code com compat completion
  completions compute default demo deployment deployments dev docker endpoint endpoints fast fallback file files first
  free gateway global gpu host http https image images inference input internal json language large latest llm local
  locations main media message messages mini model models name net node openapi org organizations output platform port
  pool primary prod production projects prompt provider providers proxy public private region replicate response
  responses root route router runtime second secondary serve server service services serving simulator small staging
  stream svc system test text text-model token tokens together tool tools user users vision www zone`.split(
    /\s+/,
  ),
);
