import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

export interface FoundExpression {
  /** `src/…:line` */
  place: string;
  source: string;
  flags: string;
}

/** Every file of `src`, relative to the project. */
export function sourceFiles(): string[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|mjs)$/.test(name))
    .map((name) => `src/${name}`);
}

/** Regular expression literals of a file. */
export function literalsIn(path: string): FoundExpression[] {
  const found: FoundExpression[] = [];
  eachNode(path, (node, line) => {
    if (!ts.isRegularExpressionLiteral(node)) return;
    const end = node.text.lastIndexOf('/');
    found.push({ place: `${path}:${line}`, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
  });
  return found;
}

function eachNode(path: string, see: (node: ts.Node, line: number) => void): void {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true, kind);
  const visit = (node: ts.Node): void => {
    see(node, file.getLineAndCharacterOfPosition(node.getStart()).line + 1);
    ts.forEachChild(node, visit);
  };
  visit(file);
}
