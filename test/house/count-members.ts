import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript-api';

/** A named type of the project, with its members. */
export interface CountedType {
  file: string;
  name: string;
  /** Includes inherited members. */
  members: ReadonlySet<string>;
}

type Declared = ts.InterfaceDeclaration | ts.TypeAliasDeclaration;

/** Counts the members of named types from the source files. Types of packages count as empty. */
export class MemberCounter {
  readonly #read: (file: string) => string;
  readonly #files = new Map<string, ts.SourceFile>();

  /** @param read returns the text of a file. @throws if the file does not exist */
  constructor(read: (file: string) => string = (file) => readFileSync(file, 'utf8')) {
    this.#read = read;
  }

  /** The interfaces and type aliases that a file declares. */
  typesOf(file: string): CountedType[] {
    return this.#declarations(file).map((found) => ({
      ...{ file, name: found.name.text },
      members: this.#declared(file, found),
    }));
  }

  #source(file: string): ts.SourceFile {
    const known = this.#files.get(file);
    if (known) return known;
    const parsed = ts.createSourceFile(file, this.#read(file), ts.ScriptTarget.Latest, true);
    this.#files.set(file, parsed);
    return parsed;
  }

  #declarations(file: string): Declared[] {
    const { statements } = this.#source(file);
    return statements.filter((one) => ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one));
  }

  #declared(file: string, found: Declared): Set<string> {
    if (ts.isTypeAliasDeclaration(found)) return this.#members(file, found.type);
    const parents = (found.heritageClauses ?? []).flatMap(({ types }) => types);
    return new Set([...ownNames(found.members), ...parents.flatMap((parent) => [...this.#members(file, parent)])]);
  }

  #members(file: string, type: ts.Node): Set<string> {
    if (ts.isTypeLiteralNode(type)) return new Set(ownNames(type.members));
    if (ts.isIntersectionTypeNode(type)) return new Set(type.types.flatMap((one) => [...this.#members(file, one)]));
    if (ts.isParenthesizedTypeNode(type)) return this.#members(file, type.type);
    const name = ts.isTypeReferenceNode(type)
      ? type.typeName.getText()
      : ts.isExpressionWithTypeArguments(type)
        ? type.expression.getText()
        : undefined;
    if (name === undefined) return new Set();
    const [of, names] = (type as ts.TypeReferenceNode).typeArguments ?? [];
    if (name === 'Pick' && names) return new Set(literals(names));
    if (name === 'Omit' && of && names) {
      const left = new Set(literals(names));
      return new Set([...this.#members(file, of)].filter((member) => !left.has(member)));
    }
    if (['Partial', 'Readonly', 'Required'].includes(name) && of) return this.#members(file, of);
    return this.#named(file, name);
  }

  #named(file: string, name: string): Set<string> {
    const here = this.#declarations(file).find((one) => one.name.text === name);
    if (here) return this.#declared(file, here);
    const from = importedFrom(this.#source(file), name);
    if (!from?.path.startsWith('.')) return new Set();
    const there = join(dirname(file), from.path);
    const found = this.#declarations(there).find((one) => one.name.text === from.name);
    return found ? this.#declared(there, found) : new Set();
  }
}

function ownNames(members: ts.NodeArray<ts.TypeElement>): string[] {
  return members.flatMap(({ name }) => name?.getText() ?? []);
}

function literals(type: ts.TypeNode): string[] {
  const all = ts.isUnionTypeNode(type) ? [...type.types] : [type];
  return all.flatMap((one) => (ts.isLiteralTypeNode(one) && ts.isStringLiteral(one.literal) ? one.literal.text : []));
}

/** The original name and file of an imported name. */
function importedFrom(source: ts.SourceFile, name: string): { path: string; name: string } | undefined {
  for (const one of source.statements) {
    if (!ts.isImportDeclaration(one) || !ts.isStringLiteral(one.moduleSpecifier)) continue;
    const bindings = one.importClause?.namedBindings;
    const found =
      bindings && ts.isNamedImports(bindings) ? bindings.elements.find((each) => each.name.text === name) : undefined;
    if (found) return { path: one.moduleSpecifier.text, name: found.propertyName?.text ?? name };
  }
  return undefined;
}
