import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface ComposeService {
  image?: string;
  build?: string;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string | number>;
  volumes?: string[];
  ports?: string[];
  profiles?: string[];
  logging?: { driver: string; options: Record<string, string> };
  read_only?: boolean;
  restart?: string;
  mem_limit?: string;
}

/** The file of the demo. */
export const DEMO_FILE = 'docker-compose.yml';
/** The file for real people. */
export const PRODUCTION_FILE = 'docker-compose.production.yml';

export function composeSource(file = PRODUCTION_FILE): string {
  return readFileSync(file, 'utf8');
}

interface ComposeFile {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
}

function composeFile(file = PRODUCTION_FILE): ComposeFile {
  return parse(composeSource(file), { merge: true }) as ComposeFile;
}

/** The services as parsed by a container engine. */
export function readCompose(file = PRODUCTION_FILE): Record<string, ComposeService> {
  return composeFile(file).services;
}

/** The declared volumes. */
export function declaredVolumes(): string[] {
  return Object.keys(composeFile().volumes);
}

/** The environment of a service, with `variables` as the shell environment of the operator. */
export function environmentOf(
  { environment = {} }: ComposeService,
  variables: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const fill = (text: string) =>
    text.replaceAll(/\$\{(\w+):[-?]([^}]*)\}/g, (_, name: string, fallback: string) => variables[name] ?? fallback);
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, fill(String(value))]));
}
