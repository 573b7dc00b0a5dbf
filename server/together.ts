/**
 * Reads that are asked for in one turn of the loop under the same key are one read. It is sent after all of them asked,
 * so nobody sees less than a read of their own would show. What it returns is shared, and must not be changed.
 * @param reads those that are not sent yet
 */
export function together<T>(reads: Map<string, Promise<T>>, key: string, read: () => PromiseLike<T>): Promise<T> {
  const known = reads.get(key)
  if (known) return known
  const sent = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    reads.delete(key)
    return read()
  })
  reads.set(key, sent)
  return sent
}
