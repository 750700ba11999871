import { type Flag, type Place, quoted, takingFlags, type Values, type Word } from './command-places.ts';

/** As a file of `fpath`, or sourced after `compinit`. */
export function zshScript(places: readonly Place[]): string {
  const commands = places.flatMap(({ at, commands: words }) => words.map(({ name }) => `${at} ${name}`));
  const taking = takingFlags(places).map(({ at, name, takes }) => ({ pattern: `${at} ${name}`, takes }));
  return `#compdef faregate
_faregate() {
  local at='' takes='' word
  local -i place
  local -a found
  for ((place = 2; place < CURRENT; place++)); do
    word="\${words[place]}"
    if [[ -n $takes ]]; then
      takes=''
      continue
    fi
    case "$at $word" in
      (${commands.map(quoted).join('|')}) at="\${at:+$at }$word" ;;
      (${taking.map(({ pattern }) => quoted(pattern)).join('|')}) takes="$word" ;;
    esac
  done
  if [[ -n $takes ]]; then
    case "$at $takes" in
${taking.flatMap(({ pattern, takes }) => caseOf(pattern, completeValues(takes))).join('\n')}
    esac
    return
  fi
  if [[ $PREFIX == -* ]]; then
    case "$at" in
${places.flatMap(({ at, flags }) => caseOf(at, describe('option', flags))).join('\n')}
    esac
    return
  fi
  case "$at" in
${places.flatMap(({ at, commands: words, values }) => caseOf(at, words.length > 0 ? describe('command', words) : completeValues(values))).join('\n')}
  esac
}
if [[ $funcstack[1] == _faregate ]]; then
  _faregate "$@"
else
  compdef _faregate faregate
fi`;
}

const caseOf = (pattern: string, reply: string | null): string[] =>
  reply === null ? [] : [`      (${quoted(pattern)}) ${reply} ;;`];

function describe(what: string, words: readonly (Word | Flag)[]): string {
  const described = words.map(({ name, description }) => quoted(`${name}:${description}`));
  return `found=(${described.join(' ')}); _describe ${what} found`;
}

function completeValues(values: Values): string | null {
  switch (values.kind) {
    case 'words':
      return `compadd -- ${values.words.join(' ')}`;
    case 'files':
      return '_files';
    case 'any':
      return null;
    default:
      return values satisfies never;
  }
}
