export interface MutantRow {
  rule: string;
  target: string;
  mutation: string;
  test: string;
}
export function readRows(table?: Record<string, string | string[][]>): {
  rows: MutantRow[];
  reasons: Map<string, string>;
};
