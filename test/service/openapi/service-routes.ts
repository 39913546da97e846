import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A route of the program, such as `POST /v1/chat/completions`; `ALL` for any method. */
export type Route = string;

const FOLDER = 'src/service';
const ON_ROUTER = /\brouter\s*\.\s*(?<method>\w+)\(\s*(?<place>[^,)\s]+)/g;
const BY_HAND = /\bctx\.path\s*[!=]==\s*(?<place>[\w']\S*?)[\s)]/g;
const NOT_A_ROUTE = new Set(['use', 'routes', 'allowedMethods']);

/**
 * All routes in the sources of the service, from koa's routers and from manual comparisons.
 * @throws Error for a route that it cannot parse, so that none is missed
 */
export function routesOfService(): Route[] {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => routesIn(readFileSync(join(FOLDER, name), 'utf8'), name))
    .sort();
}

function routesIn(source: string, name: string): Route[] {
  const onRouter = [...source.matchAll(ON_ROUTER)]
    .map(({ groups }) => ({ method: groups?.['method'] ?? '', place: groups?.['place'] ?? '' }))
    .filter(({ method }) => !NOT_A_ROUTE.has(method));
  const byHand = [...source.matchAll(BY_HAND)].map(({ groups }) => ({ method: 'all', place: groups?.['place'] ?? '' }));
  return [...onRouter, ...byHand].map(({ method, place }) => `${method.toUpperCase()} ${pathOf(place, source, name)}`);
}

/** Resolves a path literal, or the constant of the same file that holds it; parameters become `{}`. */
function pathOf(place: string, source: string, name: string): string {
  const text = /^['`]/.test(place) ? place : new RegExp(`\\bconst ${place} = (['\`].*['\`]);`).exec(source)?.[1];
  const path = text === undefined ? '' : text.slice(1, -1).replaceAll(/\$\{[^}]*\}|:\w+/g, '{}');
  if (!path.startsWith('/')) throw new Error(`The route ${place} of ${name} cannot be read`);
  return path;
}
