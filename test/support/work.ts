/**
 * The value, and how often it or something in it was read. A pass over a list reads its items, so the count says how much
 * work goes into a value: the same on every machine, however busy it is.
 */
export function counted<T extends object>(value: T): { value: T; reads(): number } {
  let reads = 0
  const proxies = new WeakMap<object, object>()
  const wrap = (inner: object): object => {
    const known = proxies.get(inner)
    if (known) return known
    const made = new Proxy(inner, {
      get(target, key, receiver) {
        reads++
        const found: unknown = Reflect.get(target, key, receiver)
        return found !== null && typeof found === 'object' ? wrap(found) : found
      },
    })
    proxies.set(inner, made)
    return made
  }
  return { value: wrap(value) as T, reads: () => reads }
}
