import { readText } from './repository-files.ts';

/** The text of each block of that language in a document, in list items too. */
export const blocksOf = (path: string, language: string): string[] =>
  [...readText(path).matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```/gm)]
    .filter(([, , each]) => each === language)
    .map(([, indent = '', , text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
