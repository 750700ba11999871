import { Argument, type Command } from 'commander';
import { addExamples, type OpenContext } from './cli-context.ts';
import { bashScript } from './completion/bash-script.ts';
import { readPlaces } from './completion/command-places.ts';
import { fishScript } from './completion/fish-script.ts';
import { zshScript } from './completion/zsh-script.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Written from the program itself, once: a script that asked it at each key would wait for Node each time. */
export function addCompletion(program: Command, open: OpenContext): void {
  const completion = program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the one that you use').choices(Object.keys(scripts)))
    .description('print a script that completes this command in a shell')
    .action((shell: keyof typeof scripts) => {
      const { show } = open();
      const script = scripts[shell](readPlaces(program));
      show({ shell, script }, () => [script]);
    });
  addExamples(completion, {
    'completion bash > ~/.local/share/bash-completion/completions/faregate': 'from the next shell on',
    'completion zsh > ~/.zfunc/_faregate': 'where fpath has ~/.zfunc',
    'completion fish > ~/.config/fish/completions/faregate.fish': 'at once',
  });
}
