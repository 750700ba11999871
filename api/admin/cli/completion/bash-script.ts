import { type Place, quoted, takingFlags, type Values } from './command-places.ts';

/** Works in the bash 3.2 of macOS, too. */
export function bashScript(places: readonly Place[]): string {
  const commands = places.flatMap(({ at, commands: [...words] }) => words.map(({ name }) => `${at} ${name}`));
  const taking = takingFlags(places).map(({ at, name, takes }) => ({ pattern: `${at} ${name}`, takes }));
  return `# Completes faregate in bash.
_faregate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at='' takes='' word index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    # bash makes three words of --name=value.
    [[ $word == '=' ]] && continue
    if [[ -n $takes ]]; then
      takes=''
      continue
    fi
    case "$at $word" in
      ${commands.map(quoted).join(' | ')}) at="\${at:+$at }$word" ;;
      ${taking.map(({ pattern }) => quoted(pattern)).join(' | ')}) takes="$word" ;;
    esac
  done
  [[ $current == '=' ]] && current=''
  if [[ -n $takes ]]; then
    case "$at $takes" in
${taking.flatMap(({ pattern, takes }) => caseOf(pattern, replyOf(takes))).join('\n')}
    esac
    return
  fi
  if [[ $current == -* ]]; then
    case "$at" in
${places.flatMap(({ at, flags }) => caseOf(at, wordsReply(flags.map(({ name }) => name)))).join('\n')}
    esac
    return
  fi
  case "$at" in
${places.flatMap(({ at, commands, values }) => caseOf(at, commands.length > 0 ? wordsReply(commands.map(({ name }) => name)) : replyOf(values))).join('\n')}
  esac
}
_faregate_files() {
  local IFS=$'\\n'
  compopt -o filenames 2> /dev/null
  COMPREPLY=($(compgen -f -- "$1"))
}
complete -F _faregate faregate`;
}

const caseOf = (pattern: string, reply: string | null): string[] =>
  reply === null ? [] : [`      ${quoted(pattern)}) ${reply} ;;`];

const wordsReply = (words: readonly string[]): string =>
  `COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$current"))`;

function replyOf(values: Values): string | null {
  switch (values.kind) {
    case 'words':
      return wordsReply(values.words);
    case 'files':
      return '_faregate_files "$current"';
    case 'any':
      return null;
    default:
      return values satisfies never;
  }
}
