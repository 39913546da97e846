import { DOCUMENT_FAULTS, type DocumentFault, type DocumentPart } from '../../knowledge/documents/document.ts';

/** What was read of a file, as it is kept for a short time. */
export interface KeptFile {
  /** As it was sent. */
  name?: string;
  parts: DocumentPart[];
  /** Ready for a model; a scan is a page that says nothing else. */
  pictures: { label: string; dataUrl: string; isScan: boolean }[];
  cutAt?: string;
  pageCount?: number;
  hasMacros?: boolean;
}

/** A file that cannot be read, for good. */
export interface UnfitFile {
  name?: string;
  fault: DocumentFault;
}

/** Written as it is kept. */
export function writeKept(file: KeptFile | UnfitFile): string {
  return JSON.stringify(file);
}

/** @returns undefined for what is no file, or was written by another version */
export function readKept(plain: string): KeptFile | UnfitFile | undefined {
  try {
    const value = JSON.parse(plain) as Partial<KeptFile & UnfitFile> | null;
    if (value?.fault !== undefined && DOCUMENT_FAULTS.includes(value.fault)) return value as UnfitFile;
    return Array.isArray(value?.parts) && Array.isArray(value.pictures) ? (value as KeptFile) : undefined;
  } catch {
    return undefined;
  }
}
