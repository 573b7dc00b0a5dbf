/**
 * Does the work for each item, a few at a time and in order. A failure of one ends the others after their current item.
 */
export async function forEachAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items]
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      await work(next).catch((err: unknown) => {
        left.length = 0
        throw err
      })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}
