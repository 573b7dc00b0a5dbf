/**
 * A thing of which a process has exactly one, made when it is first asked for. It lives on `globalThis` because Next
 * may load a module twice in one process, once for instrumentation and once for routes, and both must share it.
 * Nothing else in `server` touches `globalThis`.
 */
export function processWide<T extends object>(name: string, make: () => T): T {
  const key = Symbol.for(`millrace.${name}`)
  const known: T | undefined = Reflect.get(globalThis, key)
  if (known) return known
  const made = make()
  Reflect.set(globalThis, key, made)
  return made
}

/** For a library that is configured by a global variable. */
export function setLibraryGlobal(name: string, value: unknown): void {
  Reflect.set(globalThis, name, value)
}
