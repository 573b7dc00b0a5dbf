/** What a process has one of, as in `db`. Nothing else in `server` touches `globalThis`. */
export { processWide } from '@/db/process-wide'

/** For a library that is configured by a global variable. */
export function setLibraryGlobal(name: string, value: unknown): void {
  Reflect.set(globalThis, name, value)
}
