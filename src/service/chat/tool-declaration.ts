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

/**
 * The `required` list is in `parameters` or, as in one sample of the interface, beside them; it is moved inside. Other
 * fields are not relayed (SECURITY.md relayed-fields).
 */
export const toolSchema = z
  .object(
    {
      type: z.literal('function', { error: must('function') }),
      function: z.object(
        {
          name: z.string(BE_NAME).min(1, BE_NAME).max(MAX_NAME_CHARS, BE_NAME),
          description: z.string({ error: must('a string') }),
          parameters: parametersSchema,
          required: requiredSchema,
          strict: z.boolean().optional().catch(undefined),
        },
        { error: must('an object with name, description and parameters') },
      ),
    },
    { error: must('an object with type and function') },
  )
  .transform(({ function: { name, description, parameters, required, strict } }) => ({
    strict,
    name,
    description,
    parameters: { ...parameters, required: parameters.required ?? required ?? [] },
  }));

/** A function that the caller offers to run. */
export type ToolDeclaration = z.infer<typeof toolSchema>;
