import type { Graph } from '../graphs/reference'
import type { Outside } from './effects'
import type { Mode } from './engine'
import type { Version } from './versions'

/** The events of a simulation, for the checks afterwards. */
export interface Outcome {
  seed: number
  mode: Mode
  graph: Graph
  /**
   * Whether a person stopped a run or moved it to another graph, or the engine gave one up: then the reference does not
   * predict its end.
   */
  disturbed: boolean
  runIds: string[]
  seen: Outside['seen']
  /** When the result of each step with an effect was written, by the effect's key. */
  recorded: ReadonlyMap<string, Date>
  /** The responses to callers, by request. */
  told: Told[]
  /** Violations that no database state can justify. */
  problems: string[]
}

export interface Told {
  what: 'resume' | 'cancel' | 'terminate' | 'retry' | 'move'
  runId: string
  pauseId?: string
  /** Of a move. */
  to?: Version
  /** Null if it succeeded. */
  refused: string | null
  at: Date
}
