import ts from 'typescript-api';

export interface FoundImport {
  /** The text of the specifier; undefined if it is computed and cannot be checked. */
  specifier: string | undefined;
  isTypeOnly: boolean;
  line: number;
}

/** All imports of a file: import, export from, import type, import(), import x = require(), require(). */
export function findImports(fileName: string, source: string): FoundImport[] {
  const file = ts.createSourceFile(fileName, source, ts.ScriptTarget.Latest, true);
  const found: FoundImport[] = [];
  const visit = (node: ts.Node): void => {
    const reached = readImport(node);
    if (reached) found.push({ ...reached, line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1 });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function readImport(node: ts.Node): Omit<FoundImport, 'line'> | undefined {
  if (ts.isImportDeclaration(node)) return { specifier: textOf(node.moduleSpecifier), isTypeOnly: isTypeImport(node) };
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
    return { specifier: textOf(node.moduleSpecifier), isTypeOnly: node.isTypeOnly };
  }
  if (ts.isImportTypeNode(node)) {
    const argument = ts.isLiteralTypeNode(node.argument) ? textOf(node.argument.literal) : undefined;
    return { specifier: argument, isTypeOnly: !node.isTypeOf };
  }
  if (ts.isExternalModuleReference(node)) return { specifier: textOf(node.expression), isTypeOnly: false };
  if (ts.isCallExpression(node) && isLoader(node.expression))
    return { specifier: textOf(node.arguments[0]), isTypeOnly: false };
  return undefined;
}

/** `import type …`, or an import whose names are all marked `type`. */
function isTypeImport({ importClause }: ts.ImportDeclaration): boolean {
  if (!importClause) return false;
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const names = importClause.namedBindings;
  if (importClause.name || !names || !ts.isNamedImports(names)) return false;
  return names.elements.length > 0 && names.elements.every((element) => element.isTypeOnly);
}

function isLoader(callee: ts.Expression): boolean {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return true;
  if (ts.isIdentifier(callee)) return callee.text === 'require';
  return (
    ts.isPropertyAccessExpression(callee) && ts.isIdentifier(callee.expression) && callee.expression.text === 'require'
  );
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node && ts.isStringLiteralLike(node) ? node.text : undefined;
}
