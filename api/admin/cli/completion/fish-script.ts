import { type Flag, type Place, takingFlags } from './command-places.ts';

export function fishScript(places: readonly Place[]): string {
  const commands = places.flatMap(({ at, commands: words }) => words.map(({ name }) => `${at} ${name}`));
  const taking = takingFlags(places).map(({ at, name }) => `${at} ${name}`);
  return `# Completes faregate in fish.
function __faregate_at
  set -l at ''
  set -l takes ''
  for word in (commandline -opc)[2..-1]
    if test -n "$takes"
      set takes ''
      continue
    end
    switch "$at $word"
      case ${commands.map(fishQuoted).join(' ')}
        set at (string trim -- "$at $word")
      case ${taking.map(fishQuoted).join(' ')}
        set takes $word
    end
  end
  test "$at" = "$argv[1]"
end
complete -c faregate -f
${places.flatMap(linesOf).join('\n')}`;
}

function linesOf({ at, commands, flags, values }: Place): string[] {
  const line = `complete -c faregate -n ${fishQuoted(`__faregate_at ${fishQuoted(at)}`)}`;
  return [
    ...commands.map(
      ({ name, description }) => `${line} -a ${fishQuoted(name)} -d ${fishQuoted(description)}`,
    ),
    ...flags.map((flag) => `${line} ${flagOf(flag)} -d ${fishQuoted(flag.description)}`),
    ...(values.kind === 'words' ? [`${line} -a ${fishQuoted(values.words.join(' '))}`] : []),
    ...(values.kind === 'files' ? [`${line} -F`] : []),
  ];
}

function flagOf({ name, takes }: Flag): string {
  const long = `-l ${fishQuoted(name.replace(/^--/, ''))}`;
  if (takes === null) return long;
  switch (takes.kind) {
    case 'words':
      return `${long} -x -a ${fishQuoted(takes.words.join(' '))}`;
    case 'files':
      return `${long} -r -F`;
    case 'any':
      return `${long} -x`;
    default:
      return takes satisfies never;
  }
}

/** Inside single quotes fish reads \\ and \' alone. */
const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
