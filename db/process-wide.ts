/**
 * A value this process has exactly one of. It lives on `globalThis` because Next evaluates a module once for
 * instrumentation and again for routes, and both must share the value.
 */
export function processWide<T extends object>(name: string, make: () => T): T {
  const key = Symbol.for(`millrace.${name}`)
  const holder = globalThis as { [key: symbol]: T | undefined }
  holder[key] ??= make()
  return holder[key]
}
