import { z } from 'zod';
import { readJsonFile } from '../shared/json-file.ts';
import { checkUnique } from './unique-values.ts';

/** An application that may use the sign-in. */
export interface ServiceClient {
  clientId: string;
  clientSecret: string;
  /** Name shown on the consent page. */
  name: string;
  /** Compared character by character. */
  redirectUris: readonly string[];
}

const redirectUriSchema = z
  .string()
  .refine(
    (uri) => URL.canParse(uri) && !uri.includes('#') && !/^(?:javascript|data|vbscript|file|blob|about):/i.test(uri),
    'Must be a complete address such as https://parley.example.edu/oauth/callback, without a #',
  );

const clientSchema = z
  .object({
    client_id: z.string().min(1).max(200),
    client_secret: z.string().min(1),
    name: z.string().min(1).max(200),
    redirect_uris: z.array(redirectUriSchema).min(1),
  })
  .transform((client): ServiceClient => ({
    clientId: client.client_id,
    clientSecret: client.client_secret,
    name: client.name,
    redirectUris: client.redirect_uris,
  }));

const fileSchema = z.array(clientSchema).superRefine((clients, context) => {
  checkUnique(
    clients.map(({ clientId }) => clientId),
    'client_id',
    (message) => context.addIssue({ code: 'custom', message }),
  );
});

/** Parses the text of `SERVICE_CLIENTS_FILE`. @throws ConfigFileError */
export function parseClientsFile(text: string): ServiceClient[] {
  return readJsonFile(text, fileSchema);
}
