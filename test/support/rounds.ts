/** How often a test goes round: `SOAK=1` lets it look for as long as it takes to find what is rare. */
export function rounds(usual: number, soak: number): number {
  return process.env.SOAK ? soak : usual
}
