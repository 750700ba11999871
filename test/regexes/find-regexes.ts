import ts from 'typescript';

/** A pattern in a source file, as the engine gets it. */
export interface FoundRegex {
  file: string;
  line: number;
  source: string;
  flags: string;
}

/** A place where a pattern is made of something that cannot be read from the source. */
export interface UnreadRegex {
  file: string;
  line: number;
  /** The call, as it is written. */
  text: string;
}

export interface Regexes {
  found: FoundRegex[];
  unread: UnreadRegex[];
}

/**
 * Every pattern of a file: literals, `RegExp` of a text or of constants of the same file, and texts that `match`, `matchAll`
 * and `search` make patterns of.
 */
export function findRegexes(file: string, text: string): Regexes {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const constants = constantsOf(tree);
  const regexes: Regexes = { found: [], unread: [] };
  const lineOf = (node: ts.Node): number => tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;

  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const [source, flags] = [node.text.slice(1, end), node.text.slice(end + 1)];
      regexes.found.push({ file, line: lineOf(node), source, flags });
    }
    const made = madeOf(node, constants);
    if (made !== null) {
      const [source, flags] = made.map((part) => (part === undefined ? '' : textOf(part, constants)));
      if (source === undefined || source === null || flags === undefined || flags === null) {
        regexes.unread.push({ file, line: lineOf(node), text: node.getText(tree).replaceAll(/\s+/g, ' ') });
      } else regexes.found.push({ file, line: lineOf(node), source, flags });
    }
    if (isMakerInDisguise(node)) {
      const text = node.parent.getText(tree).replaceAll(/\s+/g, ' ');
      regexes.unread.push({ file, line: lineOf(node), text });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return regexes;
}

type Made = [source: ts.Expression | undefined, flags: ts.Expression | undefined];

/** What a node makes a pattern of; `null`: it makes none, or of another pattern. */
function madeOf(node: ts.Node, constants: ReadonlyMap<string, ts.Expression>): Made | null {
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return null;
  const [first, second] = node.arguments ?? [];
  const { expression } = node;
  if (isRegExpName(expression)) return first && ts.isRegularExpressionLiteral(first) ? null : [first, second];
  if (!SEARCHES.has(memberName(expression)) || first === undefined) return null;
  const searched = ts.isIdentifier(first) ? constants.get(first.text) : first;
  return searched !== undefined && isText(searched) ? [first, undefined] : null;
}

/** Methods of a text that make a pattern of a text. */
const SEARCHES: ReadonlySet<string | undefined> = new Set(['match', 'matchAll', 'search']);

/** Of `a.name` and `a['name']`. */
function memberName(node: ts.Expression): string | undefined {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  const isNamed = ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression);
  return isNamed ? node.argumentExpression.text : undefined;
}

/** Whether the maker of patterns is passed on, called by another way or given another name, so that what it makes is not seen. */
function isMakerInDisguise(node: ts.Node): boolean {
  if (!ts.isIdentifier(node)) return false;
  const { parent } = node;
  if (node.text === 'URLPattern') return !ts.isTypeReferenceNode(parent);
  if (node.text !== 'RegExp' || ts.isTypeReferenceNode(parent)) return false;
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword)
    return false;
  if (ts.isNewExpression(parent) || ts.isCallExpression(parent)) return parent.expression !== node;
  if (!ts.isPropertyAccessExpression(parent)) return true;
  if (parent.expression === node) return ['call', 'apply', 'bind'].includes(parent.name.text);
  const user = parent.parent;
  return !((ts.isNewExpression(user) || ts.isCallExpression(user)) && user.expression === parent);
}

const isRegExpName = (expression: ts.Expression): boolean =>
  (ts.isIdentifier(expression) && expression.text === 'RegExp') ||
  (ts.isPropertyAccessExpression(expression) && expression.name.text === 'RegExp');

const isText = (node: ts.Expression): boolean =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

/** Names that are set once, at the top of the file, with what they are set to. */
function constantsOf(tree: ts.SourceFile): Map<string, ts.Expression> {
  const constants = new Map<string, ts.Expression>();
  for (const statement of tree.statements) {
    if (!ts.isVariableStatement(statement) || !(statement.declarationList.flags & ts.NodeFlags.Const))
      continue;
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (ts.isIdentifier(name) && initializer !== undefined) constants.set(name.text, initializer);
    }
  }
  return constants;
}

/** The text that an expression always is; `null`: that cannot be read from the file. */
function textOf(node: ts.Expression, constants: ReadonlyMap<string, ts.Expression>): string | null {
  if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return node.text;
  if (ts.isParenthesizedExpression(node)) return textOf(node.expression, constants);
  if (ts.isPropertyAccessExpression(node) && node.name.text === 'source') {
    const value = ts.isIdentifier(node.expression) ? constants.get(node.expression.text) : undefined;
    if (value === undefined || !ts.isRegularExpressionLiteral(value)) return null;
    return value.text.slice(1, value.text.lastIndexOf('/'));
  }
  if (ts.isIdentifier(node)) {
    const value = constants.get(node.text);
    return value === undefined ? null : textOf(value, constants);
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left, constants), textOf(node.right, constants)];
    if (left === null || right === null) return null;
    const areNumbers = isNumber(node.left, constants) && isNumber(node.right, constants);
    return areNumbers ? String(Number(left) + Number(right)) : left + right;
  }
  if (!ts.isTemplateExpression(node)) return null;
  const spans = node.templateSpans.flatMap(({ expression, literal }) => [
    textOf(expression, constants),
    literal.text,
  ]);
  return spans.includes(null) ? null : node.head.text + spans.join('');
}

function isNumber(node: ts.Expression, constants: ReadonlyMap<string, ts.Expression>): boolean {
  const value = ts.isIdentifier(node) ? constants.get(node.text) : node;
  return value !== undefined && ts.isNumericLiteral(value);
}
