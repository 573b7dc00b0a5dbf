import { setImmediate } from 'node:timers/promises'

/**
 * What the work came to, and for how long it held the event loop at most: in milliseconds of the processor's time, which does
 * not grow when the machine is busy. Nothing else must be going on in the process.
 */
export async function held<T>(work: () => Promise<T>): Promise<{ result: T; mostMs: number; allMs: number }> {
  let isOver = false
  let mostMs = 0
  const began = process.cpuUsage()
  const watched = (async () => {
    for (let last = process.cpuUsage(); !isOver; last = process.cpuUsage()) {
      await setImmediate()
      mostMs = Math.max(mostMs, msSince(last))
    }
  })()
  const result = await work().finally(() => {
    isOver = true
  })
  await watched
  return { result, mostMs, allMs: msSince(began) }
}

function msSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
