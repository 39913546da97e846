import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript-api';

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

/** Regular expressions of a file: literals, and those assembled from constants. */
export function expressionsIn(path: string): FoundExpression[] {
  const found: FoundExpression[] = [];
  const constants = new Map<string, ts.Expression>();
  eachNode(path, (node) => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer)
      constants.set(node.name.text, node.initializer);
  });
  eachNode(path, (node, line) => {
    const place = `${path}:${line}`;
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      found.push({ place, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    } else if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp') {
      const [source = '', flags = ''] = (node.arguments ?? []).map((part) => textOf(part, constants));
      const made = new RegExp(source, flags.replaceAll(UNKNOWN, ''));
      found.push({ place, source: made.source, flags: made.flags });
    }
  });
  return found;
}

/** Placeholder for a text that is known only at run time. */
const UNKNOWN = 'x';

function textOf(node: ts.Expression, constants: ReadonlyMap<string, ts.Expression>): string {
  const read = (part: ts.Expression) => textOf(part, constants);
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map((span) => read(span.expression) + span.literal.text).join('');
  if (ts.isTaggedTemplateExpression(node)) {
    const { template } = node;
    if (!ts.isTemplateExpression(template)) return template.rawText ?? template.text;
    const raw = (part: ts.TemplateLiteralLikeNode) => part.rawText ?? part.text;
    return (
      raw(template.head) + template.templateSpans.map((span) => read(span.expression) + raw(span.literal)).join('')
    );
  }
  if (ts.isBinaryExpression(node)) return read(node.left) + read(node.right);
  if (ts.isIdentifier(node)) {
    const constant = constants.get(node.text);
    return constant === undefined ? UNKNOWN : read(constant);
  }
  return UNKNOWN;
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
