import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-api';

/** A text of the source in both languages. */
export interface FoundText {
  file: string;
  /** Name of the property that holds the text; empty if it has none. */
  key: string;
  en: string;
  zh: string;
}

/** Every TypeScript file below a folder. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

/** Every `{ en, zh }` literal in the files, exported or not. */
export function findTexts(files: readonly string[]): FoundText[] {
  return files.flatMap((file) => {
    const found: FoundText[] = [];
    visit(parse(file), (node) => {
      if (!ts.isObjectLiteralExpression(node)) return;
      const [en, zh] = [textOf(node, 'en'), textOf(node, 'zh')];
      if (en === undefined || zh === undefined) return;
      const named = ts.isPropertyAssignment(node.parent) ? node.parent.name : undefined;
      found.push({ file, key: named && 'text' in named ? named.text : '', en, zh });
    });
    return found;
  });
}

/** The string literals of a file, except import paths. */
export function stringsOf(file: string): string[] {
  const strings: string[] = [];
  visit(parse(file), (node) => {
    if (ts.isStringLiteralLike(node) && !ts.isImportDeclaration(node.parent)) strings.push(node.text);
    if (ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) strings.push(node.text);
  });
  return strings;
}

function parse(file: string): ts.SourceFile {
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true, kind);
}

function visit(node: ts.Node, onNode: (node: ts.Node) => void): void {
  onNode(node);
  ts.forEachChild(node, (child) => visit(child, onNode));
}

function textOf(literal: ts.ObjectLiteralExpression, name: string): string | undefined {
  const property = literal.properties.find(
    (candidate): candidate is ts.PropertyAssignment =>
      ts.isPropertyAssignment(candidate) && ts.isIdentifier(candidate.name) && candidate.name.text === name,
  );
  return property && readString(property.initializer);
}

/** The value of a literal or of literals joined by `+`. */
function readString(expression: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(expression)) return expression.text;
  if (!ts.isBinaryExpression(expression)) return undefined;
  const [left, right] = [readString(expression.left), readString(expression.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}
