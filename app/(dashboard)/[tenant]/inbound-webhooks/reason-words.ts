/**
 * Why a delivery starts no run, in the words of screens. The API keeps its own words, which are stored with each
 * delivery.
 */
export function reasonWords(reason: string): string {
  return reason === 'The filter is false.' ? 'The filter did not match.' : reason
}
