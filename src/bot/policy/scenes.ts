import { sha256Hex } from '../../shared/crypto/ids.ts';
import type { Models } from './policy.ts';
import type { Scene } from './scenes-file.ts';
import { isOpen, matches, type PolicyPerson, type PolicyPlace } from './subject.ts';

/** Where somebody asks, with the platform's name. */
export interface ScenePlace extends PolicyPlace {
  platform: string;
}

/** Which scene holds. Decided anew for each question, by the turn's own facts alone (SECURITY.md scenes-narrow). */
export interface Scenes {
  /** The first that fits; undefined where none does. @param person undefined for somebody who is not signed in */
  of(person: PolicyPerson | undefined, place: ScenePlace): Scene | undefined;
}

export function createScenes(scenes: readonly Scene[]): Scenes {
  return { of: (person, place) => scenes.find((scene) => fits(scene, person, place)) };
}

function fits({ who, groups, platforms }: Scene, person: PolicyPerson | undefined, place: ScenePlace): boolean {
  if (platforms && !platforms.includes(place.platform)) return false;
  // Groups that are named are meant alone: a private chat is none of them.
  if (groups !== undefined && !isOpen({ private: groups === 'none', groups }, place)) return false;
  return matches(who, person);
}

/**
 * The models that may answer in a scene: of those that are allowed without it, never others. The one that answers by default stays
 * the first where it may; else the scene's own order counts.
 * @returns undefined where none is left
 */
export function modelsIn(scene: Scene | undefined, allowed: Models): Models | undefined {
  if (!scene?.models) return allowed;
  const [usual] = allowed;
  const [first, ...others] = scene.models.includes(usual)
    ? allowed.filter((name) => scene.models?.includes(name))
    : scene.models.filter((name) => allowed.includes(name));
  return first === undefined ? undefined : [first, ...others];
}

/**
 * Tells scenes apart in what they let an answer draw upon: what was said under one is no part of a conversation under another.
 * Undefined where no scene holds.
 */
export function markOf(scene: Scene | undefined): string | undefined {
  if (!scene) return undefined;
  const { name, tools, knowledge } = scene;
  return sha256Hex(JSON.stringify([name, tools ?? null, knowledge ?? null])).slice(0, 16);
}

const LANGUAGE_WORDS = { en: 'Answer in English.', zh: 'Answer in Chinese.' } as const;
const STYLE_WORDS = {
  brief: 'Answer briefly: a few sentences, unless more is asked for.',
  detailed: 'Answer in detail, with the steps and the reasons.',
} as const;

/** The system prompt as it is in a scene. */
export function promptIn(scene: Scene | undefined, systemPrompt: string): string {
  if (!scene) return systemPrompt;
  const { instructions, language, style } = scene;
  const added = [instructions, language && LANGUAGE_WORDS[language], style && STYLE_WORDS[style]].filter(
    (words) => words !== undefined,
  );
  return added.length === 0 ? systemPrompt : [systemPrompt.trim(), ...added].join('\n\n');
}
