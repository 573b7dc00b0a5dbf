import { utcDay } from '@/lib/utc-day'
import type { ServiceContext } from '../context'
import type { AgentLimits, Usage } from '../definition/agent'
import { AppError } from '../errors'
import type { LoadedAgent } from './find'
import { type DaySum, readDay } from './usage'

/** At the limits of a day, waiting for the next one helps. */
const DAY_MS = 86_400_000

interface Spent {
  usage: Usage
  /** In US dollars, of the calls whose price is known. */
  known: number
}

/** What an agent and its workspace may use, and what they have used today as far as this process knows. */
export class Limits {
  private readonly sums = new Map<DaySum['kind'], DaySum>()
  /** The day of the sums. */
  private day = ''

  constructor(
    private readonly ctx: ServiceContext,
    private readonly own: AgentLimits,
    private readonly workspace: AgentLimits,
  ) {}

  private get both(): AgentLimits[] {
    return [this.own, this.workspace]
  }

  get ofDays(): boolean {
    return this.both.some(({ day, subjectDay }) => day !== undefined || subjectDay !== undefined)
  }

  /** Whether a call whose price is not known would go unnoticed. */
  get ofCost(): boolean {
    return this.both.some(({ day, turn }) => day?.cost !== undefined || turn?.cost !== undefined)
  }

  /**
   * How many rounds and calls of tools a message may have.
   * @param usual what an agent may that sets nothing; the workspace only lowers it
   */
  most(what: 'rounds' | 'calls', usual: number): number {
    return Math.min(this.own.turn?.[what] ?? usual, this.workspace.turn?.[what] ?? Number.POSITIVE_INFINITY)
  }

  /** Notes what a record returned. */
  note(sums: readonly DaySum[]): void {
    if (sums.length > 0) this.day = utcDay(this.ctx.now())
    for (const sum of sums) this.sums.set(sum.kind, sum)
  }

  /**
   * Checks, before a call of a model, whether everything is below its limits.
   * @param sizeOf the estimated tokens of the call
   * @throws AppError BUDGET_EXCEEDED
   */
  check({ usage, known }: Spent, sizeOf: () => number): void {
    // Those of yesterday say nothing about today.
    if (this.day !== utcDay(this.ctx.now())) this.sums.clear()
    for (const limits of this.both) {
      const { call, turn, day, subjectDay } = limits
      const whose = limits === this.own ? 'agent' : 'workspace'
      if (call) this.require(sizeOf() <= call.tokens, 'call.tokens', `One call may have ${tokens(call.tokens)}`)
      this.below(usage.totalTokens, turn?.tokens, 'turn.tokens', 'One message may use')
      this.below(known, turn?.cost, 'turn.cost', 'One message may cost')
      const sum = this.sums.get(whose)
      const may = `The ${whose} may use`
      this.below(sum?.tokens ?? 0, day?.tokens, 'day.tokens', may)
      this.below(sum?.cost ?? 0, day?.cost, 'day.cost', may)
      this.below(this.sums.get('subject')?.tokens ?? 0, subjectDay?.tokens, 'subjectDay.tokens', 'One person may use')
    }
  }

  private below(used: number, most: number | undefined, limit: Limit, may: string): void {
    if (most === undefined) return
    const text = limit.endsWith('cost') ? `${most} US dollars` : tokens(most)
    this.require(used < most, limit, `${may} ${text}${/day/i.test(limit) ? ' a day' : ''}`)
  }

  private require(isBelow: boolean, limit: Limit, message: string): void {
    if (isBelow) return
    const left = DAY_MS - (this.ctx.now().getTime() % DAY_MS)
    throw new AppError('BUDGET_EXCEEDED', {
      message,
      details: [{ message, limit }],
      headers: /day/i.test(limit) ? { 'retry-after': String(Math.ceil(left / 1000)) } : {},
    })
  }
}

type Limit = 'call.tokens' | `turn.${'tokens' | 'cost'}` | `day.${'tokens' | 'cost'}` | 'subjectDay.tokens'

const tokens = (count: number) => `${count.toLocaleString('en')} tokens`

/** The limits of an agent's turn, with the usage of today if any of them is of days. */
export async function openLimits(ctx: ServiceContext, agent: LoadedAgent): Promise<Limits> {
  const limits = new Limits(ctx, agent.config.limits ?? {}, agent.workspaceLimits ?? {})
  if (limits.ofDays) limits.note(await readDay(ctx, agent.id))
  return limits
}
