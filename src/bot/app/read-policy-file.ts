import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { fileInUse } from '../config/config-file.ts';
import { parsePolicyFile, type PolicyFile } from '../policy/policy-file.ts';

/**
 * Reads the policy file as it is now.
 * @param models the available models; any name is accepted without them
 * @throws ConfigFileError; at start the file was already checked (`config-files.ts`)
 */
export function readPolicyFile({ policyFile }: Pick<Config, 'policyFile'>, models?: readonly string[]): PolicyFile {
  return parsePolicyFile(readFileSync(fileInUse(policyFile), 'utf8'), models);
}
