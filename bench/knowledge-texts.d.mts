/** Writes documents below a folder, a hundred in each sub-folder. @returns how many bytes */
export function writeDocuments(folder: string, count: number, bytesEach: number, seed?: number): number;
