/** The equal-looking forms in which a text may be stored: an accent is part of its letter, or a separate character. */
export function spellings(text: string): string[] {
  return [...new Set([text, text.normalize('NFC'), text.normalize('NFD')])]
}

/** Whether two texts look the same. */
export function looksLike(one: string, other: string): boolean {
  return one.normalize('NFC') === other.normalize('NFC')
}
