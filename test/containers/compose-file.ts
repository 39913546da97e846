import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { mutatedSource } from '../support/mutated-source.ts';

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

/** docker-compose.yml, with the change of a mutant. */
export function composeSource(): string {
  return mutatedSource(resolve('docker-compose.yml'), readFileSync('docker-compose.yml', 'utf8'));
}

interface ComposeFile {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
}

function composeFile(): ComposeFile {
  return parse(composeSource(), { merge: true }) as ComposeFile;
}

/** docker-compose.yml as a container engine reads it. */
export function readCompose(): Record<string, ComposeService> {
  return composeFile().services;
}

/** The volumes that it declares. */
export function declaredVolumes(): string[] {
  return Object.keys(composeFile().volumes);
}

/** A service's environment, where `variables` are those of whoever starts it. */
export function environmentOf(
  { environment = {} }: ComposeService,
  variables: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const fill = (text: string) =>
    text.replaceAll(/\$\{(\w+):[-?]([^}]*)\}/g, (_, name: string, fallback: string) => variables[name] ?? fallback);
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, fill(String(value))]));
}
