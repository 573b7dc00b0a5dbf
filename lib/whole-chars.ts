/** The first characters of a text, without half a surrogate pair at the end. */
export function wholeChars(text: string, length: number): string {
  const cut = text.slice(0, length)
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}
