/** An answer of the sign-in service before anybody has judged it. */
export interface RawAnswer {
  status: number;
  body: string;
}

/** A body as a JSON object; undefined for HTML, arrays, and everything else. */
export function readObject(body: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
