import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface ComposeService {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string | number>;
  volumes?: string[];
  ports?: string[];
  profiles?: string[];
  logging?: { driver: string; options: Record<string, string> };
  read_only?: boolean;
  restart?: string;
  mem_limit?: string;
}

/** The text of docker-compose.yml. */
export function composeSource(): string {
  return readFileSync('docker-compose.yml', 'utf8');
}

interface ComposeFile {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
}

function composeFile(): ComposeFile {
  return parse(composeSource(), { merge: true }) as ComposeFile;
}

/** docker-compose.yml as parsed by a container engine. */
export function readCompose(): Record<string, ComposeService> {
  return composeFile().services;
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
