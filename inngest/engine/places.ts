import type { Claim } from './context'
import { ALONE_MS, keptFree, SUSPECT_AFTER } from './settings'

/** Of how many lanes a process remembers the last turn. */
const REMEMBERED = 256

/** The places of a process: each holds one call. Knows which are taken, promised or out of reach, and the suspect. */
export class Places {
  private taken = 0
  private promised = 0
  private alone: NodeJS.Timeout | undefined
  private turns = 0
  /** The last turn of each lane, the oldest first. */
  private readonly lastTurn = new Map<string, number>()
  /** The claim of the suspect at work, by its generation: never more than one. */
  suspect: string | undefined

  constructor(
    private readonly total: number,
    /** Called when places open again that a suspect had closed. */
    private readonly opened: () => void,
  ) {}

  /** Places that may be taken now: none while a suspect is to be alone. */
  get free(): number {
    return this.alone ? 0 : Math.max(0, this.total - this.taken - this.promised)
  }

  /** Free places that functions with a concurrency key may share. */
  get shared(): number {
    return Math.max(0, this.free - keptFree(this.total))
  }

  /** Sets places aside. @returns how many */
  promise(wanted: number): number {
    const places = Math.min(wanted, this.free)
    this.promised += places
    return places
  }

  takeBack(places: number): void {
    this.promised -= places
  }

  begin(claim: Claim): void {
    this.taken++
    if (claim.lane !== null) this.remember(claim.lane)
    if (claim.deliveries < SUSPECT_AFTER) return
    this.suspect = claim.generation
    clearTimeout(this.alone)
    this.alone = setTimeout(() => this.open(), ALONE_MS)
  }

  end(): void {
    this.taken--
  }

  /** A claim came back or got on. If it was the suspect, it is none any more. */
  acquit(generation: string): void {
    if (this.suspect !== generation) return
    this.suspect = undefined
    this.open()
  }

  served(): { lane: string; at: number }[] {
    return [...this.lastTurn].map(([lane, at]) => ({ lane, at }))
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
