import type { Sql } from '@/db/index'
import { processWide } from '@/db/process-wide'
import { log } from './log'

/** How long a reading is valid, and the delay before the next one after a failure. */
const FRESH_MS = 60_000
const AGAIN_MS = 5_000
/** A jump of this machine's clock, or a sleep. */
const JUMP_MS = 500
/** A slower reading is too inexact. */
const QUICK_MS = 1_000
/** The clock stands still during steps back of up to this much, so that nothing ends before it began. */
const HELD_MS = 5_000

/** The database's time at a moment of this process. */
interface Reading {
  time: number
  elapsed: number
  wall: number
}

interface Clock {
  read: (() => Promise<number>) | null
  last: Reading | null
  reading: Promise<void> | null
  triedAt: number
  shown: number
}

const state = () => processWide<Clock>('clock', () => ({ read: null, last: null, reading: null, triedAt: 0, shown: 0 }))

/**
 * The time by the database's clock, which all processes share, regardless of this machine's clock. Before `setClock`,
 * and in commands, it is this machine's.
 */
export function now(): Date {
  const clock = state()
  const { last } = clock
  if (!last) return new Date()
  const passed = performance.now() - last.elapsed
  const jumped = Math.abs(Date.now() - last.wall - passed) > JUMP_MS
  if ((jumped || passed > FRESH_MS) && performance.now() - clock.triedAt > AGAIN_MS) void readAgain(clock)
  const time = last.time + passed
  const isBehind = time < clock.shown && clock.shown - time < HELD_MS
  if (!isBehind) clock.shown = time
  return new Date(clock.shown)
}

/**
 * Follows the database's clock from now on. Reads it once a minute while the time is used, and after a jump of this
 * machine's clock.
 */
export async function setClock(sql: Sql): Promise<void> {
  const clock = state()
  clock.read = async () => {
    const [row] = await sql<{ ms: number }[]>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`
    if (!row) throw new Error('The database did not return its time.')
    return row.ms
  }
  // The first reading must count, even if it was slow.
  clock.last = await take(clock.read)
  clock.triedAt = performance.now()
  const offset = Math.round(clock.last.time - clock.last.wall)
  if (Math.abs(offset) > QUICK_MS)
    log().warn({ offsetMs: offset }, 'this machine’s clock is wrong; using the database’s')
}

/** Settles when no reading is in progress. */
export async function clockRead(): Promise<void> {
  await state().reading
}

function readAgain(clock: Clock): Promise<void> {
  clock.triedAt = performance.now()
  clock.reading ??= again(clock)
    .catch((err: unknown) => log().debug({ err }, 'the database’s clock could not be read'))
    .finally(() => {
      clock.reading = null
    })
  return clock.reading
}

async function again(clock: Clock): Promise<void> {
  if (!clock.read) return
  const from = performance.now()
  const reading = await take(clock.read)
  if (performance.now() - from < QUICK_MS) clock.last = reading
}

async function take(read: () => Promise<number>): Promise<Reading> {
  const from = performance.now()
  const told = await read()
  const elapsed = performance.now()
  const wall = Date.now()
  // The database read its clock at some moment in between. If this machine's clock agrees, it is the more exact one.
  const latest = told + (elapsed - from)
  const agrees = wall >= told - 1 && wall <= latest + 1
  return { time: agrees ? wall : (told + latest) / 2, elapsed, wall }
}
