export function testsBySlug(root?: string): Map<string, string[]>;
export function rulesOf(doc: string): string[];
