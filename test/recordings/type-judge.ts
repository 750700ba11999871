import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { isRecord } from '#core/is-record.ts';

/** A difference between a value and its type. */
export interface Fault {
  /** As in `choices[].delta.content`. */
  path: string;
  kind: 'missing' | 'type' | 'unknown';
  /** In words, for a person who reads the failing test. */
  told: string;
}

/** Types have no runtime, so values are compared with them by the compiler's own reading of the declarations. */
export interface TypeJudge {
  /** @param type A name that the file of types exports. */
  faults(type: string, value: unknown): Fault[];
}

export function openTypeJudge(file: URL): TypeJudge {
  const path = fileURLToPath(file);
  const program = ts.createProgram([path], {
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`No types in ${path}`);
  const types = new Map(
    checker
      .getExportsOfModule(module)
      .map((symbol) => [symbol.name, checker.getDeclaredTypeOfSymbol(symbol)]),
  );
  return {
    faults(name, value) {
      const type = types.get(name);
      if (type === undefined) throw new Error(`No type of the name ${name}`);
      return new Comparison(checker).faults(value, type, '');
    },
  };
}

class Comparison {
  readonly #checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  faults(value: unknown, type: ts.Type, path: string): Fault[] {
    if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return [];
    if (type.isUnion()) return this.#inUnion(value, type, path);
    if (!isRecord(value) && !Array.isArray(value))
      return isPlain(value, type, this.#checker) ? [] : [this.#wrong(value, type, path)];
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)))
      return [this.#wrong(value, type, path)];
    if (this.#checker.isArrayType(type)) {
      const [entry] = this.#checker.getTypeArguments(type as ts.TypeReference);
      if (!Array.isArray(value) || entry === undefined) return [this.#wrong(value, type, path)];
      return value.flatMap((each) => this.faults(each, entry, `${path}[]`));
    }
    return isRecord(value) ? this.#ofMembers(value, type, path) : [this.#wrong(value, type, path)];
  }

  #ofMembers(value: Record<string, unknown>, type: ts.Type, path: string): Fault[] {
    const faults: Fault[] = [];
    const properties = this.#checker.getPropertiesOfType(type);
    for (const property of properties) {
      const at = path === '' ? property.name : `${path}.${property.name}`;
      const member = value[property.name];
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
      // The APIs write null for members that their types call optional.
      const isAbsent = member === undefined || (member === null && isOptional);
      if (!isAbsent) faults.push(...this.faults(member, this.#checker.getTypeOfSymbol(property), at));
      else if (!isOptional) faults.push({ path: at, kind: 'missing', told: `${at} is missing` });
    }
    const [index] = this.#checker.getIndexInfosOfType(type);
    const names = new Set(properties.map(({ name }) => name));
    for (const [name, member] of Object.entries(value)) {
      if (names.has(name)) continue;
      const at = path === '' ? name : `${path}.${name}`;
      if (index !== undefined) faults.push(...this.faults(member, index.type, `${path}[]`));
      else
        faults.push({
          path: at,
          kind: 'unknown',
          told: `${at} is no member of ${this.#checker.typeToString(type)}`,
        });
    }
    return faults;
  }

  /** The member that the value means is the one that it has the least faults by, of those with its literals. */
  #inUnion(value: unknown, union: ts.UnionType, path: string): Fault[] {
    const meant = isRecord(value)
      ? union.types.filter((type) => this.#hasLiterals(value, type))
      : union.types;
    let fewest: Fault[] | null = null;
    for (const type of meant) {
      const faults = this.faults(value, type, path);
      if (fewest === null || weight(faults) < weight(fewest)) fewest = faults;
      if (faults.length === 0) return [];
    }
    // A plain value is told by the union, which has all that may stand here.
    return fewest === null || (!isRecord(value) && !Array.isArray(value))
      ? [this.#wrong(value, union, path)]
      : fewest;
  }

  #hasLiterals(value: Record<string, unknown>, type: ts.Type): boolean {
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return false;
    return this.#checker.getPropertiesOfType(type).every((property) => {
      const literal = this.#checker.getTypeOfSymbol(property);
      return (
        !literal.isStringLiteral() ||
        value[property.name] === undefined ||
        value[property.name] === literal.value
      );
    });
  }

  #wrong(value: unknown, type: ts.Type, path: string): Fault {
    const shown = JSON.stringify(value)?.slice(0, 60);
    return {
      path,
      kind: 'type',
      told: `${path} is ${shown}, which is no ${this.#checker.typeToString(type)}`,
    };
  }
}

/** A member that no type knows says less than one of the wrong type. */
const weight = (faults: readonly Fault[]): number =>
  faults.reduce((sum, { kind }) => sum + (kind === 'unknown' ? 1 : 100), 0);

function isPlain(value: unknown, type: ts.Type, checker: ts.TypeChecker): boolean {
  const { flags } = type;
  // `string & {}` stands for words that a later version may add.
  if (type.isIntersection()) return type.types.some((part) => isPlain(value, part, checker));
  if (value === null) return (flags & ts.TypeFlags.Null) !== 0;
  if (type.isStringLiteral() || type.isNumberLiteral()) return value === type.value;
  if (flags & ts.TypeFlags.BooleanLiteral) return String(value) === checker.typeToString(type);
  if (typeof value === 'string') return (flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) !== 0;
  if (typeof value === 'number') return (flags & ts.TypeFlags.Number) !== 0;
  return typeof value === 'boolean' && (flags & ts.TypeFlags.Boolean) !== 0;
}
