import { DOCUMENT_FAULTS, type DocumentFault, type DocumentPart } from '../../knowledge/documents/document.ts';
import { parseJson } from '../../../shared/parse-json.ts';

/** Contents of a file as stored for a short time. */
export interface KeptFile {
  /** Original file name. */
  name?: string;
  parts: DocumentPart[];
  /** Prepared for a model. A scan is a page without text. */
  pictures: { label: string; dataUrl: string; isScan: boolean }[];
  cutAt?: string;
  pageCount?: number;
  hasMacros?: boolean;
}

/** A file that can never be read. */
export interface UnfitFile {
  name?: string;
  fault: DocumentFault;
}

/** Serializes a file for storage. */
export function writeKept(file: KeptFile | UnfitFile): string {
  return JSON.stringify(file);
}

/** @returns undefined for invalid data or data of another version */
export function readKept(plain: string): KeptFile | UnfitFile | undefined {
  const value = parseJson(plain) as Partial<KeptFile & UnfitFile> | null | undefined;
  if (value?.fault !== undefined && DOCUMENT_FAULTS.includes(value.fault)) return value as UnfitFile;
  return Array.isArray(value?.parts) && Array.isArray(value.pictures) ? (value as KeptFile) : undefined;
}
