/** Stands in for `server/clock.ts`: a time that passes only when the simulation says so. */
let ms = Date.UTC(2026, 0, 1)

export function now(): Date {
  return new Date(ms)
}

/** Lets time pass. It never goes back, whatever runs on it. */
export function pass(by: number): void {
  ms += Math.max(0, Math.ceil(by))
}

export async function setClock(): Promise<void> {}

export async function clockRead(): Promise<void> {}
