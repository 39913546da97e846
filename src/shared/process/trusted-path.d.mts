/** See trusted-path.mjs. */
export function trustedFolders(path?: string): string[];
export function findProgram(names: string | readonly string[], path?: string): string | undefined;
export function keepTrustedPath(env?: NodeJS.ProcessEnv): void;
