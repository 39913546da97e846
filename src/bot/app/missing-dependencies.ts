import { readFile } from 'node:fs/promises';
import { parseClientsFile } from '../../service/clients-file.ts';
import { parseDirectoryFile } from '../../service/directory-file.ts';
import type { Config, Secrets } from '../config/config.ts';

interface Lack {
  sentence: string;
  /** Whether a whole half of the service is of no use without it: nobody can ask the model anything. */
  isAllLost: boolean;
}

/**
 * What a service for real people cannot do, since nobody told it whom to serve: a sentence each that names the file to
 * write. Files that are named can be read (`config-files.ts` saw to it).
 */
export async function lacksOfService({ service }: Config, { serviceApiKeys }: Secrets): Promise<Lack[]> {
  const { clientsFile, directoryFile, institution } = service;
  const hasClients = clientsFile !== undefined && parseClientsFile(await readFile(clientsFile, 'utf8')).length > 0;
  const hasPeople =
    institution !== undefined ||
    (directoryFile !== undefined && parseDirectoryFile(await readFile(directoryFile, 'utf8')).length > 0);
  return [
    ...(serviceApiKeys.length > 0 ? [] : [NO_KEYS]),
    ...(hasClients ? [] : [NO_CLIENTS]),
    ...(hasPeople ? [] : [NO_PEOPLE]),
  ];
}

const NO_KEYS = {
  sentence: 'Every call of the chat interface gets 401, since no key is known: set SERVICE_API_KEYS.',
  isAllLost: true,
};
const NO_CLIENTS = {
  sentence:
    'No application can ask people to sign in: write config/clients.json, a list of {"client_id","client_secret","name","redirect_uris"}, and set SERVICE_CLIENTS_FILE=config/clients.json.',
  isAllLost: false,
};
const NO_PEOPLE = {
  sentence:
    'Nobody can sign in: write config/directory.json, a list of people in the form of docs/SERVICE.md, and set SERVICE_DIRECTORY_FILE=config/directory.json (npm run hash-password makes the passwords), or set SERVICE_OIDC_ISSUER or SERVICE_CAS_URL.',
  isAllLost: false,
};
