import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram, runCli } from '../../api/admin/cli/run-cli.ts';
import { cliEnvironment } from '../../api/config/cli-environment.ts';

async function scriptFor(shell: string): Promise<string> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const environment = cliEnvironment({});
  expect(await runCli(['completion', shell], { environment, stdin, stdout, stderr })).toBe(0);
  stdout.end();
  return text(stdout);
}

const program = createProgram(() => {
  throw new Error('nothing is run here');
});

describe('bash', () => {
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'faregate-completion-'));
    writeFileSync(join(folder, 'script.bash'), await scriptFor('bash'));
    writeFileSync(join(folder, 'my backup.gz'), '');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** What Tab offers behind these words, the last of which is being typed. */
  function offered(line: string): string[] {
    const script = `
      source ./script.bash
      COMP_WORDS=(${line.replaceAll('=', " '=' ").replace(/ $/, " ''")})
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      $(complete -p faregate | sed -E 's/.*-F ([^ ]+) .*/\\1/')
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const out = execFileSync('bash', ['--norc', '-uc', script], { cwd: folder, encoding: 'utf8' });
    return out.split('\n').filter((word) => word !== '');
  }

  test('offers the commands, and those that begin so', () => {
    expect(offered('faregate ')).toEqual(program.commands.map((command) => command.name()));
    expect(offered('faregate ag')).toEqual(['agents']);
    expect(offered('faregate ledger ')).toEqual(['audit', 'bills', 'recover']);
    expect(offered('faregate --json agents s')).toEqual(['show', 'suspend']);
  });

  test("offers a command's own options, and those of all", () => {
    expect(offered('faregate audit list --')).toEqual([
      ...['--since', '--action', '--limit', '--before'],
      ...['--version', '--json', '--url', '--token-file', '--help'],
    ]);
    expect(offered('faregate keys revoke 2 5 --y')).toEqual(['--yes']);
  });

  test('offers the values of an option or an argument that has a list of them', () => {
    expect(offered('faregate keys create 2 shop --reset ')).toEqual(['daily', 'weekly', 'monthly']);
    expect(offered('faregate keys create 2 shop --reset=w')).toEqual(['weekly']);
    expect(offered('faregate completion ')).toEqual(['bash', 'zsh', 'fish']);
  });

  test('offers files where a file is named, whatever is in their names', () => {
    expect(offered('faregate restore my')).toEqual(['my backup.gz']);
    expect(offered('faregate --token-file scr')).toEqual(['script.bash']);
  });

  test('offers nothing where nobody can guess, and takes no value for a command', () => {
    expect(offered('faregate agents show ')).toEqual([]);
    expect(offered('faregate --url ')).toEqual([]);
    expect(offered('faregate --url agents ')).toEqual(program.commands.map((command) => command.name()));
  });
});

describe.each(['zsh', 'fish'])('%s', (shell) => {
  test('knows every command and every option, with what each is for', async () => {
    const script = await scriptFor(shell);
    for (const command of program.commands) {
      for (const each of [command, ...command.commands]) {
        expect(script).toContain(each.name());
        expect(script.replaceAll(/\\'|'\\''/g, "'")).toContain(each.description().replaceAll("\\'", "'"));
        for (const option of each.options) expect(script).toContain(option.long?.slice(2));
      }
    }
  });
});

test('a shell that it does not know is refused', async () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const environment = cliEnvironment({});
  expect(await runCli(['completion', 'tcsh'], { environment, stdin, stdout, stderr })).toBe(2);
  stderr.end();
  expect(await text(stderr)).toContain('Allowed choices are bash, zsh, fish.');
});
