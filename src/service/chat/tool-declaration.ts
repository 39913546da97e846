import { z } from 'zod';
import { isDeeperThan, MAX_LEVELS } from './json-depth.ts';
import { listOf, mapOf, must, optional } from './field-rules.ts';

const MAX_NAME_CHARS = 128;
const MAX_REQUIRED = 1_000;

const requiredSchema = optional(
  listOf(z.string({ error: must('the name of a property') }), {
    max: MAX_REQUIRED,
    be: `a list of at most ${MAX_REQUIRED.toLocaleString('en')} names`,
  }),
);

/** Each property is a schema; only its type and description are used, the rest is left to the model. */
const propertySchema = z.looseObject(
  { description: optional(z.string({ error: must('a string') })) },
  { error: must('an object with type and description') },
);

const parametersSchema = z
  .looseObject(
    {
      type: z.literal('object', { error: must('object') }),
      properties: mapOf(propertySchema, 'an object with a schema for each name'),
      required: requiredSchema,
    },
    { error: must('an object with type and properties') },
  )
  .refine((schema) => !isDeeperThan(MAX_LEVELS, schema), { error: `must have at most ${MAX_LEVELS} levels` });

const BE_NAME = { error: must(`a name of 1 to ${MAX_NAME_CHARS} letters`) };

const nameSchema = z.string(BE_NAME).min(1, BE_NAME).max(MAX_NAME_CHARS, BE_NAME);
const BE_TEXT = { error: must('a string') };
const strictSchema = z.boolean().optional().catch(undefined);

/** A tool that the caller offers to run. */
export interface ToolDeclaration {
  name: string;
  description: string;
  parameters: { properties: Record<string, Record<string, unknown>>; required: readonly string[] };
  /** What an engine receives. */
  declaration: object;
}

/** A declaration as it is specified, for the built-in model. The `required` list is in `parameters` or beside it. */
export const toolSchema = z
  .object(
    {
      type: z.literal('function', { error: must('function') }),
      function: z.object(
        {
          name: nameSchema,
          description: z.string(BE_TEXT),
          parameters: parametersSchema,
          required: requiredSchema,
        },
        { error: must('an object with name, description and parameters') },
      ),
    },
    { error: must('an object with type and function') },
  )
  .transform(({ function: { name, description, parameters, required } }): ToolDeclaration => {
    const { properties } = parameters;
    return {
      ...{ name, description, declaration: {} },
      parameters: { properties, required: parameters.required ?? required ?? [] },
    };
  });

const BE_SCHEMA = { error: must('an object') };

const anyParametersSchema = z
  .record(z.string(), z.unknown(), BE_SCHEMA)
  .refine((schema) => !isDeeperThan(MAX_LEVELS, schema), { error: `must have at most ${MAX_LEVELS} levels` });

const relayedFields = { name: nameSchema, description: optional(z.string(BE_TEXT)) };
const BE_NAMED = { error: must('an object with a name') };

const relayedFunctionSchema = z
  .object({
    type: z.literal('function'),
    function: z.object(
      { ...relayedFields, parameters: optional(anyParametersSchema), required: requiredSchema, strict: strictSchema },
      BE_NAMED,
    ),
  })
  .transform(({ type, function: { required, ...told } }) => {
    const { parameters } = told;
    const isBeside = parameters && required && (parameters['required'] ?? undefined) === undefined;
    return declarationOf(told.name, {
      type,
      function: isBeside ? { ...told, parameters: { ...parameters, required } } : told,
    });
  });

const relayedCustomSchema = z
  .object({
    type: z.literal('custom'),
    custom: z.object({ ...relayedFields, format: optional(anyParametersSchema) }, BE_NAMED),
  })
  .transform(({ type, custom }) => declarationOf(custom.name, { type, custom }));

/**
 * A declaration for an engine, which judges the schema itself: engines accept functions without description or parameters,
 * and schemas such as `{}` and `anyOf`. Fields that OpenAI's interface does not have are not relayed (SECURITY.md
 * relayed-fields).
 */
export const relayedToolSchema = z.discriminatedUnion('type', [relayedFunctionSchema, relayedCustomSchema], {
  error: ({ input }) =>
    typeof input === 'object' && input !== null && !Array.isArray(input)
      ? must('function or custom')({ input: (input as { type?: unknown }).type })
      : must('an object with type and function')({ input }),
});

function declarationOf(name: string, declaration: object): ToolDeclaration {
  return { name, description: '', parameters: { properties: {}, required: [] }, declaration };
}
