export function testsBySlug(root?: string): Map<string, string[]>;
export function rulesOf(doc: string): string[];
export function withTests(doc: string, tests: ReadonlyMap<string, readonly string[]>): string;
