import type { FailedTurn, TurnMetadata, Usage } from '../definition/agent'
import { addUsage, NO_USAGE } from '../models/call'

/** Where a turn stood when people last let it continue at a limit, and how often they have. */
export interface Grant {
  tokens: number
  cost: number
  times: number
}

interface Spent {
  usage: Usage
  cost?: number | null | undefined
}

/** Of a model's answer. The cost is null if it is not known. */
interface Answered {
  usage: Usage
  cost: number | null
  by: { provider: string; modelId: string }
}

/** The number of tool calls of one message and its cost so far, handoffs included. */
export class Budget {
  static readonly maxDepth = 3
  private calls = 0
  /** How many calls of tools the message may have. */
  most = 64
  private readonly grants = new Map<string, Grant>()
  private before = { usage: NO_USAGE, cost: 0 }
  usage: Usage = NO_USAGE
  /** The known cost so far, in US dollars. */
  known = 0
  /** The same, as far as callers see it; null until a model with prices has answered. */
  cost: number | null = null
  /** The models, named with their providers, that answered without a known price. */
  readonly unpriced = new Set<string>()
  /** The ended calls. */
  readonly called: NonNullable<FailedTurn['calls']> = []
  /** The known facts about the turn so far; null until its model is known. */
  soFar: (() => TurnMetadata) | null = null

  /** Lets the message use as much again as a limit allows. */
  grant(limit: string): void {
    const times = (this.granted(limit)?.times ?? 0) + 1
    this.grants.set(limit, { tokens: this.usage.totalTokens, cost: this.known, times })
  }

  granted(limit: string): Grant | null {
    return this.grants.get(limit) ?? null
  }

  /**
   * @param cost null if it is not known
   * @param shown whether callers see it
   */
  spend(usage: Usage, cost: number | null, shown: boolean): void {
    this.usage = addUsage(this.usage, usage)
    this.known += cost ?? 0
    if (cost !== null && shown) this.cost = (this.cost ?? 0) + cost
  }

  /** The same, with the answer's model noted if its price is not known. */
  spendOn({ usage, cost, by }: Answered, shown: boolean): void {
    this.spend(usage, cost, shown)
    if (cost === null && by.provider !== 'scripted') this.unpriced.add(`${by.provider}/${by.modelId}`)
  }

  /** The usage, and the cost if it is known, without the errors of sums of floating point numbers. */
  get spent(): Pick<TurnMetadata, 'usage' | 'cost'> {
    const { usage, cost } = this
    return { usage, ...(cost === null ? {} : { cost: Number(cost.toPrecision(12)) }) }
  }

  /** Notes how much of the usage of recorded calls earlier attempts have reported as theirs. */
  count(recorded: Spent, reported: Spent): void {
    const least = (of: (usage: Usage) => number) => Math.min(of(recorded.usage), of(reported.usage))
    const usage = {
      inputTokens: least(({ inputTokens }) => inputTokens),
      outputTokens: least(({ outputTokens }) => outputTokens),
      totalTokens: least(({ totalTokens }) => totalTokens),
    }
    // A process that does not know `list` as a price has computed with it.
    const known = ({ cost }: Spent) => (typeof cost === 'number' && Number.isFinite(cost) ? cost : 0)
    this.before = { usage, cost: Math.min(known(recorded), known(reported)) }
  }

  /** The usage of a turn that no earlier attempt has reported: its own, and that of attempts that died. */
  own<T extends Pick<TurnMetadata, 'usage' | 'cost'>>(turn: T): T {
    const { inputTokens, outputTokens, totalTokens } = this.before.usage
    // A turn that ends before it has come to its recorded calls has used nothing.
    const left = (all: number, before: number) => Math.max(0, all - before)
    const usage = {
      inputTokens: left(turn.usage.inputTokens, inputTokens),
      outputTokens: left(turn.usage.outputTokens, outputTokens),
      totalTokens: left(turn.usage.totalTokens, totalTokens),
    }
    if (turn.cost === undefined) return { ...turn, usage }
    return { ...turn, usage, cost: Number(left(turn.cost, this.before.cost).toPrecision(12)) }
  }

  take(): boolean {
    this.calls += 1
    return this.calls <= this.most
  }
}
