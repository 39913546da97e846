import { posix } from 'node:path';
import { MIB_BYTES } from '../../../../shared/clock.ts';
import type { DocumentPicture } from '../document.ts';
import type { TextCollector } from '../text-collector.ts';
import { pictureType } from '../picture-type.ts';
import { attributeOf, readXml } from './read-xml.ts';
import type { Zip } from './zip.ts';

/** A relationship between two parts of an Office document. */
export interface Relation {
  /** The last segment of the relationship type: `styles`, `image`, `worksheet`. */
  type: string;
  /** Name of the ZIP entry. */
  target: string;
}

const MAX_RELATIONS = 10_000;
const MAX_PICTURE_BYTES = 8 * MIB_BYTES;

/** The relationships of a part, by id. External targets are left out, so they are never fetched. */
export async function readRelations(zip: Zip, part: string): Promise<Map<string, Relation>> {
  const folder = posix.dirname(part);
  const relations = new Map<string, Relation>();
  await readXml(zip.pieces(posix.join(folder, '_rels', `${posix.basename(part)}.rels`)), {
    open(name, { Id, Type, Target, TargetMode }) {
      if (name !== 'Relationship' || TargetMode === 'External' || relations.size >= MAX_RELATIONS) return;
      if (Id === undefined || Target === undefined) return;
      const target = posix.normalize(Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target));
      relations.set(Id, { type: Type?.split('/').at(-1) ?? '', target });
    },
  });
  return relations;
}

/** The main part of an Office document. */
export async function mainPart(zip: Zip): Promise<string | undefined> {
  const relations = await readRelations(zip, '');
  return [...relations.values()].find(({ type }) => type === 'officeDocument')?.target;
}

export function findRelation(relations: ReadonlyMap<string, Relation>, type: string): string | undefined {
  return [...relations.values()].find((relation) => relation.type === type)?.target;
}

/** The title from the document properties, if any. */
export async function readTitle(zip: Zip): Promise<string | undefined> {
  let isInside = false;
  let title = '';
  await readXml(zip.pieces('docProps/core.xml'), {
    open: (name) => (isInside = name === 'title'),
    close: () => (isInside = false),
    text: (text) => (title += isInside ? text : ''),
  });
  return title.trim() === '' ? undefined : title;
}

/** Whether the document contains macros. */
export function hasMacros(zip: Zip): boolean | undefined {
  return [...zip.names].some((name) => /vbaProject\.bin$|\/macrosheets\//i.test(name)) ? true : undefined;
}

/** Adds an image of the document, if its type is supported. */
export async function addPicture(zip: Zip, name: string, label: string, gathering: TextCollector): Promise<boolean> {
  if (!gathering.wantsPictures) return false;
  const bytes = await zip.whole(name, MAX_PICTURE_BYTES);
  const mediaType: DocumentPicture['mediaType'] | undefined = bytes && pictureType(bytes);
  if (!bytes || !mediaType) return false;
  gathering.addPicture({ label, bytes, mediaType });
  return true;
}

/** An on/off attribute: present means on, unless its value says otherwise. */
export function isOn(attributes: Readonly<Record<string, string>>): boolean {
  return !['0', 'false', 'off', 'none'].includes(attributeOf(attributes, 'val') ?? 'true');
}
