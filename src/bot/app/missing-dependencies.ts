import { readFile } from 'node:fs/promises';
import { parseClientsFile } from '../../service/clients-file.ts';
import { parseDirectoryFile } from '../../service/directory-file.ts';
import type { Config, Secrets } from '../config/config.ts';
import { fileInUse } from '../config/config-file.ts';

interface MissingDependency {
  sentence: string;
  /** Whether half of the service is unusable without it, because no one can call the model. */
  isAllLost: boolean;
}

/**
 * Finds what a service for real people cannot do without further settings, one sentence each, which names the file to write.
 * Files that are set are readable (checked by `config-files.ts`).
 */
export async function findMissingDependencies(
  { service }: Config,
  { serviceApiKeys }: Secrets,
): Promise<MissingDependency[]> {
  const { clientsFile, directoryFile, institution } = service;
  const hasClients = clientsFile !== undefined && parseClientsFile(await readFile(clientsFile, 'utf8')).length > 0;
  const hasPeople =
    institution !== undefined ||
    (directoryFile !== undefined && parseDirectoryFile(await readFile(fileInUse(directoryFile), 'utf8')).length > 0);
  return [
    ...(serviceApiKeys.length > 0 ? [] : [NO_KEYS]),
    ...(hasClients ? [] : [NO_CLIENTS]),
    ...(hasPeople ? [] : [NO_PEOPLE]),
  ];
}

const NO_KEYS = {
  sentence: 'Every call of the chat interface gets 401 because no API key is configured: set SERVICE_API_KEYS.',
  isAllLost: true,
};
const NO_CLIENTS = {
  sentence:
    'No application can request a sign-in: create config/clients.json, a list of {"client_id","client_secret","name","redirect_uris"}, and set SERVICE_CLIENTS_FILE=config/clients.json.',
  isAllLost: false,
};
const NO_PEOPLE = {
  sentence:
    'No one can sign in: create config/directory.json, a list of people as described in docs/reference/SERVICE.md, and set SERVICE_DIRECTORY_FILE=config/directory.json (npm run hash-password creates the password strings), or set SERVICE_OIDC_ISSUER or SERVICE_CAS_URL.',
  isAllLost: false,
};
