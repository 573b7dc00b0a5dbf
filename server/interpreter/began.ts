import type { Receipt } from '../definition/run'
import { processWide } from '../process'
import type { Begun } from './plan'

/** How a walk that was claimed with its run goes on. */
interface Began {
  receipt: Receipt
  begun: Begun | null
}

/** The walks that this process has claimed with the start of their run, and not begun to drive. */
const waiting = () => processWide<Map<string, Began>>('runs.began', () => new Map())

/** Keeps how a walk goes on for the engine run that is about to drive it. */
export function keepBegan(engineRunId: string, began: Began): void {
  waiting().set(engineRunId, began)
}

/** Takes it, once. Null if another process claimed the walk, or long ago. */
export function takeBegan(engineRunId: string): Began | null {
  const began = waiting().get(engineRunId) ?? null
  waiting().delete(engineRunId)
  return began
}
