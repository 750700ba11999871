import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An installed package, as npm's hidden lock file has it. */
export interface InstalledPackage {
  /** From the root of the installation, such as `node_modules/a/node_modules/b`. */
  path: string;
  name: string;
  version: string;
  licence: string;
}

/** What may be shipped: all of them ask for their text and nothing of ours. Any other one is looked at by a person first. */
export const allowedLicences: readonly string[] = [
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'OFL-1.1',
];

/** Throws, with a line for each package whose licence may not be shipped. */
export function requireAllowedLicences(packages: readonly InstalledPackage[]): void {
  const refused = packages.filter(({ licence }) => !allowedLicences.includes(licence));
  if (refused.length === 0) return;
  const lines = refused.map(({ name, version, licence }) => `${name}@${version}: ${licence || 'none named'}`);
  throw new Error(`These licences are not on the list of image/licences.ts:\n${lines.join('\n')}`);
}

/** The texts of all of them, in one file; a package that ships none has its licence's name and the text in its general form. */
export function licenceTexts(root: string, packages: readonly InstalledPackage[]): string {
  const parts = packages.map(({ path, name, version, licence }) => {
    const texts = textsOf(join(root, path));
    const text = texts.length > 0 ? texts.join('\n\n') : generalText(licence);
    if (text === null) throw new Error(`${name}@${version} ships no text of its licence, ${licence}.`);
    return `${name}@${version}\n${licence}\n\n${text.trim()}\n`;
  });
  return parts.join(`\n${'-'.repeat(80)}\n\n`);
}

const textsOf = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'));

const generalText = (licence: string): string | null => (licence === 'MIT' ? MIT : null);

const MIT = `Copyright (c) its authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so,
subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
