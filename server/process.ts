/** State that each process has exactly once; `db` keeps it. Nothing else in `server` touches `globalThis`. */
export { processWide } from '@/db/process-wide'

/** For libraries that are configured through a global variable. */
export function setLibraryGlobal(name: string, value: unknown): void {
  Reflect.set(globalThis, name, value)
}
