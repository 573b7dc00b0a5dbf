/** Looking up a symbol by its text costs more than this lookup. */
const keys = new Map<string, symbol>()

/**
 * A value that exists exactly once in this process. It lives on `globalThis` because Next evaluates a module once for
 * instrumentation and again for routes, and both must share the value.
 */
export function processWide<T extends object>(name: string, make: () => T): T {
  const key = keys.get(name) ?? Symbol.for(`millrace.${name}`)
  keys.set(name, key)
  const holder = globalThis as { [key: symbol]: T | undefined }
  holder[key] ??= make()
  return holder[key]
}

/** For libraries that are configured through a global variable. */
export function setLibraryGlobal(name: string, value: unknown): void {
  Reflect.set(globalThis, name, value)
}
