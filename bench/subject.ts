import type { Sql } from '@/db/types'

/**
 * Five steps each: `trivial` ones with an effect that does nothing, `builtin` and `script` tools, `http` calls to a
 * server on loopback, and `slow` ones that take 20 ms and record their execution.
 */
export type Kind = 'trivial' | 'builtin' | 'script' | 'http' | 'slow'

/** A product to measure, over HTTP: Millrace or a peer. */
export interface Subject {
  readonly name: string
  readonly kinds: readonly Kind[]
  /** Starts it with an empty store. */
  up(): Promise<void>
  down(): Promise<void>
  /** `kill -9`, and a restart as an operator would do it. */
  killAndRestart(): Promise<void>

  /** Starts a run and waits for its result. @returns milliseconds */
  run(kind: Kind): Promise<number>
  /** A run of trivial steps; `first` and `last` are the milliseconds per step in its first and last tenth. */
  runLong(steps: number): Promise<{ ms: number; first?: number; last?: number }>
  /** Starts a run without waiting. */
  start(kind: Kind): Promise<void>
  /** How many runs started by `start` or `run` have completed. */
  completed(): Promise<number>
  /** Starts a run of a step, a pause for a person, and a step. @returns its id */
  pause(): Promise<string>
  resume(id: string): Promise<void>
  status(id: string): Promise<string>
  paused(): Promise<number>
  /** The executions of slow steps; a repeated step has the same name. */
  executed(): readonly string[]

  /** Sends a message to an agent and waits for the answer, in each way that it has. @returns milliseconds */
  readonly turns: Readonly<Record<string, () => Promise<number>>>

  /** Its own processes, without the database and the launcher. */
  processes(): number[]
  storedBytes(): Promise<number>
  /** Where it stores its runs. Undefined if not in Postgres. */
  readonly database: { sql: Sql; adminUrl: string; name: string; pid: number } | undefined
}
