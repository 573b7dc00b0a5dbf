/** How many rounds a test makes. `SOAK=1` makes many more, to find rare failures. */
export function rounds(usual: number, soak: number): number {
  return process.env.SOAK ? soak : usual
}
