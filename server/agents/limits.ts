import { utcDay } from '@/lib/utc-day'
import type { ServiceContext } from '../context'
import type { AgentLimits, LimitAsk, ReachedLimit } from '../definition/agent'
import { APPROVE } from '../definition/approval'
import type { AgentTotals } from '../definition/schema'
import { AppError } from '../errors'
import type { Budget } from './budget'
import type { Answered } from './decision'
import type { LoadedAgent } from './find'
import type { Journal } from './journal/journal'
import { type DaySum, readDay, type Used } from './usage'

/** At the limits of a day, waiting for the next one helps. */
const DAY_MS = 86_400_000

type Name = ReachedLimit['name']

/** A limit that keeps a call from being made, and who is asked whether the turn continues. */
export interface Asking {
  limit: ReachedLimit
  at: LimitAsk
}

/** What an agent and its workspace may use, and what they have used today as far as this process knows. */
export class Limits {
  private readonly sums = new Map<DaySum['kind'], DaySum>()
  /** The day of the sums. */
  private day = ''
  /** The answer to the question about the next call of the model. */
  private answered: Answered | null = null
  /** What the other turns of the run have used. */
  private others: Used = { tokens: 0, cost: 0 }

  constructor(
    private readonly ctx: ServiceContext,
    private readonly agentId: string,
    private readonly own: AgentLimits,
    private readonly workspace: AgentLimits,
    private readonly run: Journal['ofRun'],
  ) {}

  private get both(): AgentLimits[] {
    return [this.own, this.workspace]
  }

  get ofDays(): boolean {
    return this.both.some(({ day, subjectDay }) => day !== undefined || subjectDay !== undefined)
  }

  /** Whether a call whose price is not known would go unnoticed. */
  get ofCost(): boolean {
    const { run, both } = this
    return run?.most.cost !== undefined || both.some(({ day, turn }) => (day?.cost ?? turn?.cost) !== undefined)
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
   * Notes that a call of the model is next. If people were asked before it and let the turn continue, their limit counts
   * anew from here.
   */
  begin(answered: Answered | null, budget: Budget): void {
    this.answered = answered
    if (answered) grantOf(answered, this.agentId, budget)
  }

  /** Reads what the other turns of the run have used, if that counts. */
  async look(): Promise<void> {
    if (this.run) this.others = await this.run.others()
  }

  /**
   * Checks, before a call of a model, whether everything is below its limits.
   * @param sizeOf the estimated tokens of the call
   * @param mayAsk whether people can be asked
   * @returns the limit to ask about first; null if the call may be made
   * @throws AppError BUDGET_EXCEEDED
   */
  check(budget: Budget, sizeOf: () => number, mayAsk: boolean): Asking | null {
    const { answered } = this
    if (answered?.limit && !goesOn(answered)) throw this.refusal(answered.limit)
    const asking: Asking[] = []
    for (const { limit, at } of this.reached(budget, sizeOf)) {
      if (!at || !(mayAsk || answered)) throw this.refusal(limit)
      asking.push({ limit, at })
    }
    // An answer lets its call pass: the next one asks about the other limits.
    if (answered) return null
    return asking.find(({ limit }) => limit.of === 'workspace') ?? asking[0] ?? null
  }

  private reached(budget: Budget, sizeOf: () => number): { limit: ReachedLimit; at: LimitAsk | null }[] {
    // Those of yesterday say nothing about today.
    if (this.day !== utcDay(this.ctx.now())) this.sums.clear()
    const { own, workspace, run } = this
    const asked = own.at ?? workspace.at ?? null
    const reached = (of: ReachedLimit['of'], amounts: [Name, number][], at: LimitAsk | null) =>
      amounts
        .map(([name, most]): ReachedLimit => ({ of, name, most }))
        .filter((limit) => !this.isBelow(limit, budget, sizeOf))
        .map((limit) => ({ limit, at }))
    return [
      ...reached('agent', amountsOf(own), asked),
      // Its people are its own: who edits an agent may not choose others.
      ...reached('workspace', amountsOf(workspace), workspace.at ?? null),
      ...reached('run', totalsOf(run?.most ?? {}), asked),
    ]
  }

  private isBelow(limit: ReachedLimit, budget: Budget, sizeOf: () => number): boolean {
    const { of, name, most } = limit
    const granted = budget.granted(keyOf(limit, this.agentId))
    if (name === 'call.tokens') return sizeOf() <= most * (1 + (granted?.times ?? 0))
    const what = name.endsWith('cost') ? 'cost' : 'tokens'
    const mine = { tokens: budget.usage.totalTokens, cost: budget.known }[what]
    const since = mine - (granted?.[what] ?? 0)
    if (name.startsWith('turn')) return since < most
    const all = of === 'run' ? this.others[what] + mine : this.today(of, name)[what]
    return all < most || (granted !== null && since < most)
  }

  private today(of: 'agent' | 'workspace', name: Name): Used {
    return this.sums.get(name === 'subjectDay.tokens' ? 'subject' : of) ?? { tokens: 0, cost: 0 }
  }

  private refusal(limit: ReachedLimit): AppError {
    const message = limitText(limit)
    const left = DAY_MS - (this.ctx.now().getTime() % DAY_MS)
    return new AppError('BUDGET_EXCEEDED', {
      message,
      details: [{ message, limit: limit.name }],
      headers: /day/i.test(limit.name) ? { 'retry-after': String(Math.ceil(left / 1000)) } : {},
    })
  }
}

function keyOf({ of, name }: ReachedLimit, agentId: string): string {
  return of === 'agent' ? `${agentId} ${name}` : `${of} ${name}`
}

/** Lets a limit count anew if people were asked at it and let the turn of this agent continue. */
export function grantOf(answered: Answered, agentId: string, budget: Budget): void {
  if (answered.limit && goesOn(answered)) budget.grant(keyOf(answered.limit, agentId))
}

function goesOn({ answer }: Answered): boolean {
  return answer !== null && 'actionId' in answer && answer.actionId === APPROVE
}

type Amount = [Name, number | undefined]

/** The limits of tokens and of cost that are set. */
function amountsOf({ call, turn, day, subjectDay }: AgentLimits): [Name, number][] {
  return set([
    ['call.tokens', call?.tokens],
    ['turn.tokens', turn?.tokens],
    ['turn.cost', turn?.cost],
    ['day.tokens', day?.tokens],
    ['day.cost', day?.cost],
    ['subjectDay.tokens', subjectDay?.tokens],
  ])
}

function totalsOf({ tokens, cost }: AgentTotals): [Name, number][] {
  return set([
    ['run.tokens', tokens],
    ['run.cost', cost],
  ])
}

function set(amounts: Amount[]): [Name, number][] {
  return amounts.flatMap(([name, most]) => (most === undefined ? [] : [[name, most]]))
}

/** @param isRunLimited whether the agents of the run have a limit together */
export function mayAskAtLimits({ config, workspaceLimits }: LoadedAgent, isRunLimited: boolean): boolean {
  const [own, workspace] = [config.limits ?? {}, workspaceLimits ?? {}]
  if (workspace.at && amountsOf(workspace).length > 0) return true
  return (own.at ?? workspace.at) !== undefined && (isRunLimited || amountsOf(own).length > 0)
}

/** What a limit allows, as a sentence. */
export function limitText({ of, name, most }: ReachedLimit): string {
  const amount = name.endsWith('cost') ? `${most} US dollars` : `${most.toLocaleString('en')} tokens`
  return {
    'call.tokens': `One call may have ${amount}`,
    'turn.tokens': `One message may use ${amount}`,
    'turn.cost': `One message may cost ${amount}`,
    'day.tokens': `The ${of} may use ${amount} a day`,
    'day.cost': `The ${of} may use ${amount} a day`,
    'subjectDay.tokens': `One person may use ${amount} a day`,
    'run.tokens': `The agents of a run may use ${amount} together`,
    'run.cost': `The agents of a run may use ${amount} together`,
  }[name]
}

/** The limits of an agent's turn, with the usage of today if any of them is of days. */
export async function openLimits(ctx: ServiceContext, agent: LoadedAgent, journal: Journal): Promise<Limits> {
  const { config, workspaceLimits } = agent
  const limits = new Limits(ctx, agent.id, config.limits ?? {}, workspaceLimits ?? {}, journal.ofRun)
  if (limits.ofDays) limits.note(await readDay(ctx, agent.id))
  return limits
}
