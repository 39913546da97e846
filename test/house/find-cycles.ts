import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findImports } from './find-imports.ts';
import { listSources } from './judge-imports.ts';

/** The imports between the files below a folder, including type imports. */
export function importsBelow(root: string): Map<string, string[]> {
  return new Map(
    listSources(root).map((path) => {
      const source = readFileSync(join(root, path), 'utf8');
      const specifiers = findImports(path, source).flatMap(({ specifier }) => specifier ?? []);
      const local = specifiers.filter((specifier) => specifier.startsWith('.'));
      return [path, local.map((specifier) => join(dirname(path), specifier))];
    }),
  );
}

/** Groups of nodes that reach each other (Tarjan's strongly connected components), each sorted. */
export function findCycles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.size - 1);
    open.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (open.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const group = open.splice(open.indexOf(node));
    if (group.length > 1 || edges.get(node)?.includes(node) === true) cycles.push(group.toSorted());
  };
  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return cycles.toSorted();
}
