import type { WayVisit } from '../../definition/verdict'
import type { Entry, Position } from '../../interpreter/flow/index'
import { shownExit } from '../../interpreter/flow/index'
import type { Watcher } from './source'

/** The way that a walk goes: its visits with their exits, in the words of a run's records. */
export class Trace implements Watcher {
  readonly visits: WayVisit[] = []
  /** The newest visit of each step: it is left before the step is visited again. */
  private readonly newest = new Map<string, { visit: WayVisit; entry: Entry<Position> }>()

  visit(entry: Entry<Position>): void {
    const visit: WayVisit = { branch: entry.state.ref.branch, ...entry.at, exit: null }
    this.visits.push(visit)
    this.newest.set(entry.step.id, { visit, entry })
  }

  leave(stepId: string, exit: string): void {
    const found = this.newest.get(stepId)
    if (found) found.visit.exit = exit === 'error' || exit === 'timeout' ? exit : shownExit(found.entry.type, exit)
  }

  fail(): void {}
}
