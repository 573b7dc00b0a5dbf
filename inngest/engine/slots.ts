import type { Claim } from './context'
import { ALONE_MS, keptFree, SUSPECT_AFTER } from './settings'

/**
 * How many lanes' last turns a process remembers. A forgotten lane counts as new, so with more busy lanes, those whose
 * jobs have waited longest come before new ones. Bounded, because each claim sends all of them.
 */
const REMEMBERED = 1_024

/** A process's slots, one per call. Tracks which are taken, reserved or unavailable, and the suspect. */
export class Slots {
  private taken = 0
  private reserved = 0
  private alone: NodeJS.Timeout | undefined
  private turns = 0
  /** The last turn of each lane, oldest first. */
  private readonly lastTurn = new Map<string, number>()
  /** How many slots each lane has, reserved ones included. */
  private readonly inLanes = new Map<string, number>()
  /** How many of those are reserved. Their jobs may not be committed yet. */
  private readonly reservedIn = new Map<string, number>()
  /** The generation of the suspect in progress. At most one exists. */
  suspect: string | undefined

  constructor(
    private readonly total: number,
    /** Called when slots that were blocked for a suspect are free again. */
    private readonly opened: () => void,
  ) {}

  /** Slots that may be taken now: none while a suspect must run alone. */
  get free(): number {
    return this.alone ? 0 : Math.max(0, this.total - this.taken - this.reserved)
  }

  /** Free slots that functions with a concurrency key may share. */
  get shared(): number {
    return Math.max(0, this.free - keptFree(this.total))
  }

  /** Reserves slots. @returns how many */
  reserve(wanted: number): number {
    const slots = Math.min(wanted, this.free)
    this.reserved += slots
    return slots
  }

  release(slots: number): void {
    this.reserved -= slots
  }

  /** Reserves a slot for a lane that has room: no lane takes more slots than it leaves free. */
  reserveFor(lane: string | null, limit: number): boolean {
    const mine = lane === null ? 0 : (this.inLanes.get(lane) ?? 0)
    if (lane === null ? this.free < 1 : mine >= this.shared || mine >= limit) return false
    this.reserved++
    count(this.inLanes, lane, 1)
    count(this.reservedIn, lane, 1)
    return true
  }

  releaseFor(lane: string | null): void {
    this.reserved--
    count(this.inLanes, lane, -1)
    count(this.reservedIn, lane, -1)
  }

  begin(claim: Claim): void {
    this.taken++
    count(this.inLanes, claim.lane, 1)
    if (claim.lane !== null) this.remember(claim.lane)
    if (claim.deliveries < SUSPECT_AFTER) return
    this.suspect = claim.generation
    clearTimeout(this.alone)
    this.alone = setTimeout(() => this.open(), ALONE_MS)
  }

  end(lane: string | null): void {
    this.taken--
    count(this.inLanes, lane, -1)
  }

  /** A claim returned or made progress. If it was the suspect, it no longer is. */
  clearSuspect(generation: string): void {
    if (this.suspect !== generation) return
    this.suspect = undefined
    this.open()
  }

  served(): { lane: string; at: number }[] {
    return [...this.lastTurn].map(([lane, at]) => ({ lane, at }))
  }

  reservedByLane(): { lane: string; n: number }[] {
    return [...this.reservedIn].map(([lane, n]) => ({ lane, n }))
  }

  close(): void {
    clearTimeout(this.alone)
  }

  private remember(lane: string): void {
    this.lastTurn.delete(lane)
    this.lastTurn.set(lane, ++this.turns)
    const [oldest] = this.lastTurn.keys()
    if (this.lastTurn.size > REMEMBERED && oldest !== undefined) this.lastTurn.delete(oldest)
  }

  private open(): void {
    clearTimeout(this.alone)
    this.alone = undefined
    this.opened()
  }
}

function count(lanes: Map<string, number>, lane: string | null, by: 1 | -1): void {
  if (lane === null) return
  const n = (lanes.get(lane) ?? 0) + by
  if (n > 0) lanes.set(lane, n)
  else lanes.delete(lane)
}
