import { z } from 'zod';

const requiredSchema = z.array(z.string());

const parametersSchema = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string(), z.looseObject({ type: z.unknown().optional(), description: z.string().optional() })),
  required: requiredSchema.optional(),
});

/** The `required` list stands in `parameters` or, as one sample of the interface has it, beside them; it is moved inside. */
export const toolSchema = z
  .object({
    type: z.literal('function'),
    function: z.object({
      name: z.string().min(1).max(128),
      description: z.string(),
      parameters: parametersSchema,
      required: requiredSchema.optional(),
    }),
  })
  .transform(({ function: { name, description, parameters, required } }) => ({
    name,
    description,
    parameters: { ...parameters, required: parameters.required ?? required ?? [] },
  }));

/** A function that the caller offers to run. */
export type ToolDeclaration = z.infer<typeof toolSchema>;
