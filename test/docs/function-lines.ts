import ts from 'typescript';
import type { SourceFile } from './repository-files.ts';

export interface FunctionLines {
  path: string;
  name: string;
  lines: number;
}

/** Every function of a file with its number of lines, from its name to its closing brace. Docstrings do not count. */
export function functionsOf({ path, text }: SourceFile): FunctionLines[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: FunctionLines[] = [];
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const lines = lineAt(node.getEnd()) - lineAt(node.getStart(source)) + 1;
      found.push({ path, name: nameOf(node, source), lines });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function nameOf(node: ts.SignatureDeclaration, source: ts.SourceFile): string {
  if (node.name !== undefined) return node.name.getText(source);
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const { parent } = node;
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)
    ? parent.name.getText(source)
    : '(unnamed)';
}
