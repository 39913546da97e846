import { DOCUMENT_FAULTS, type DocumentFault, type DocumentPart } from '../../knowledge/documents/document.ts';
import { parseJson } from '../../../shared/parse-json.ts';

/** Contents of a file as stored for a short time. */
export interface StoredFile {
  name?: string;
  parts: DocumentPart[];
  /** Prepared for a model. A scan is a page without text. */
  pictures: { label: string; dataUrl: string; isScan: boolean }[];
  cutAt?: string;
  pageCount?: number;
  hasMacros?: boolean;
}

/** A file that the thread of a question shows. */
export interface SharedFile extends StoredFile {
  /** Name of its sender in the prompt. */
  from: string;
}

/** A file that can never be read. */
export interface UnfitFile {
  name?: string;
  fault: DocumentFault;
}

/** Serializes a file for storage. */
export function serializeStoredFile(file: StoredFile | UnfitFile): string {
  return JSON.stringify(file);
}

/** @returns undefined for invalid data or data of another version */
export function parseStoredFile(plain: string): StoredFile | UnfitFile | undefined {
  const value = parseJson(plain) as Partial<StoredFile & UnfitFile> | null | undefined;
  if (value?.fault !== undefined && DOCUMENT_FAULTS.includes(value.fault)) return value as UnfitFile;
  return Array.isArray(value?.parts) && Array.isArray(value.pictures) ? (value as StoredFile) : undefined;
}
