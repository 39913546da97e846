import { sha256Hex } from '../../shared/crypto/ids.ts';
import type { Models } from './policy.ts';
import type { Scene } from './scenes-file.ts';
import { isPlaceEnabled, matches, type PolicyPerson, type PolicyPlace } from './subject.ts';

/** Place of the question, with the platform name. */
export interface ScenePlace extends PolicyPlace {
  platform: string;
}

/** Selects the scene for each question from the facts of its turn only (SECURITY.md scenes-narrow). */
export interface Scenes {
  /** The first matching scene, or undefined if none matches. @param person undefined for a person who is not signed in */
  of(person: PolicyPerson | undefined, place: ScenePlace): Scene | undefined;
}

export function createScenes(scenes: readonly Scene[]): Scenes {
  return { of: (person, place) => scenes.find((scene) => fits(scene, person, place)) };
}

function fits({ who, groups, platforms }: Scene, person: PolicyPerson | undefined, place: ScenePlace): boolean {
  if (platforms && !platforms.includes(place.platform)) return false;
  // A scene that lists groups excludes private chats.
  if (groups !== undefined && !isPlaceEnabled({ private: groups === 'none', groups }, place)) return false;
  return matches(who, person);
}

/**
 * The models of a scene, limited to those that the policy allows. The default model stays first if the scene includes it;
 * otherwise the order of the scene applies.
 * @returns undefined if no model is left
 */
export function sceneModels(scene: Scene | undefined, allowed: Models): Models | undefined {
  if (!scene?.models) return allowed;
  const [usual] = allowed;
  const [first, ...others] = scene.models.includes(usual)
    ? allowed.filter((name) => scene.models?.includes(name))
    : scene.models.filter((name) => allowed.includes(name));
  return first === undefined ? undefined : [first, ...others];
}

/**
 * Identifies the scene, its tools and its knowledge sources, so that a conversation in one scene never includes messages
 * from another. Undefined if no scene applies.
 */
export function sceneFingerprint(scene: Scene | undefined): string | undefined {
  if (!scene) return undefined;
  const { name, tools, knowledge } = scene;
  return sha256Hex(JSON.stringify([name, tools ?? null, knowledge ?? null])).slice(0, 16);
}

const LANGUAGE_WORDS = { en: 'Answer in English.', zh: 'Answer in Chinese.' } as const;
const STYLE_WORDS = {
  brief: 'Answer briefly: a few sentences, unless more is asked for.',
  detailed: 'Answer in detail, with the steps and the reasons.',
} as const;

/** The system prompt with the additions of the scene. */
export function sceneSystemPrompt(scene: Scene | undefined, systemPrompt: string): string {
  if (!scene) return systemPrompt;
  const { instructions, language, style } = scene;
  const added = [instructions, language && LANGUAGE_WORDS[language], style && STYLE_WORDS[style]].filter(
    (words) => words !== undefined,
  );
  return added.length === 0 ? systemPrompt : [systemPrompt.trim(), ...added].join('\n\n');
}
