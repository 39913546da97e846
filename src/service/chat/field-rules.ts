import { z } from 'zod';

/** Maximum characters quoted from a caller's own name, which may be a property's. */
const MAX_STEP_CHARS = 64;

/**
 * Requirement of a field for error messages: `must('a number from 0 to 1')`. Never includes the value. Used as `error` in
 * zod schemas and checks (chat-request.ts); `firstFault` prepends the name of the field.
 */
export function must(be: string): (issue: { input?: unknown }) => string {
  return ({ input }) => (input === undefined ? `is missing; it must be ${be}` : `must be ${be}`);
}

/** Null means the same as omitting the field: many clients send unused fields as null. */
export function optional<S extends z.ZodType>(schema: S): z.ZodType<z.output<S> | undefined> {
  return z
    .unknown()
    .optional()
    .transform((value, context): z.output<S> | undefined => {
      if (value === undefined || value === null) return undefined;
      return pass(schema, value, { context, path: [] });
    });
}

/** A string, or a value of the other schema. The union of zod would not report which part is invalid. */
export function textOr<S extends z.ZodType>(schema: S): z.ZodType<string | z.output<S>> {
  return z.unknown().transform((value, context): string | z.output<S> => {
    return typeof value === 'string' ? value : pass(schema, value, { context, path: [] });
  });
}

export interface ListRule {
  /** Default 0. */
  min?: number;
  max: number;
  /** Requirement of the field, including its size: `a list of 1 to 200 …`. */
  be: string;
}

/**
 * A list that is validated up to its first fault. The array of zod would collect a fault for each of a million invalid
 * elements.
 */
export function listOf<S extends z.ZodType>(element: S, { min = 0, max, be }: ListRule): z.ZodType<z.output<S>[]> {
  return z.unknown().transform((value, context): z.output<S>[] => {
    if (!Array.isArray(value) || value.length < min || value.length > max) return refuse(context, must(be), value);
    return (value as unknown[]).map((item, index) =>
      context.issues.length > 0 ? z.NEVER : pass(element, item, { context, path: [index] }),
    );
  });
}

/** An object with caller-defined names, validated up to its first fault. */
export function mapOf<S extends z.ZodType>(element: S, be: string): z.ZodType<Record<string, z.output<S>>> {
  return z.unknown().transform((value, context): Record<string, z.output<S>> => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(context, must(be), value);
    const entries: [string, z.output<S>][] = [];
    for (const [name, item] of Object.entries(value)) {
      entries.push([name, pass(element, item, { context, path: [name] })]);
      if (context.issues.length > 0) return z.NEVER;
    }
    return Object.fromEntries(entries);
  });
}

/**
 * The first fault: the path of the field, such as `messages[0].content`, and a sentence that begins with it. The path is
 * missing if the whole body is invalid.
 */
export function firstFault(error: z.ZodError): { param: string; message: string } | undefined {
  const { path, message } = error.issues[0] ?? { path: [], message: '' };
  if (path.length === 0) return undefined;
  const param = path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      return `${index > 0 ? '.' : ''}${String(step).slice(0, MAX_STEP_CHARS)}`;
    })
    .join('');
  return { param, message: `${param} ${message}` };
}

interface Place {
  context: z.RefinementCtx;
  path: (string | number)[];
}

/** Applies another schema at a path within this one. */
function pass<S extends z.ZodType>(schema: S, value: unknown, { context, path }: Place): z.output<S> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  for (const { path: inner, message } of read.error.issues) {
    context.issues.push({ code: 'custom', path: [...path, ...inner], message, input: undefined });
  }
  return z.NEVER;
}

function refuse(context: z.RefinementCtx, say: (issue: { input?: unknown }) => string, input: unknown): never {
  context.issues.push({ code: 'custom', path: [], message: say({ input }), input: undefined });
  return z.NEVER;
}
