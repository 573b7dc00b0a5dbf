import type { FailedTurn, TurnMetadata, Usage } from '../definition/agent'
import { addUsage, NO_USAGE } from '../models/call'

/** @param prices per million tokens */
export function costOf(usage: Usage, prices: { input: number; output: number }): number {
  return (usage.inputTokens * prices.input + usage.outputTokens * prices.output) / 1e6
}

/** The number of tool calls of one message and its cost so far, handoffs included. */
export class Budget {
  static readonly maxDepth = 3
  private calls = 64
  usage: Usage = NO_USAGE
  /** Null until a model with known prices has answered. */
  cost: number | null = null
  /** The ended calls. */
  readonly called: NonNullable<FailedTurn['calls']> = []
  /** The known facts about the turn so far; null until its model is known. */
  soFar: (() => TurnMetadata) | null = null

  spend(usage: Usage, prices: { input: number; output: number } | undefined): void {
    this.usage = addUsage(this.usage, usage)
    if (!prices) return
    this.cost = (this.cost ?? 0) + costOf(usage, prices)
  }

  /** The usage, and the cost if it is known, without the errors of sums of floating point numbers. */
  get spent(): Pick<TurnMetadata, 'usage' | 'cost'> {
    const { usage, cost } = this
    return { usage, ...(cost === null ? {} : { cost: Number(cost.toPrecision(12)) }) }
  }

  take(): boolean {
    this.calls -= 1
    return this.calls >= 0
  }
}
