/** The steps and exits reached by all paths of a simulation so far. */
export class Coverage {
  readonly steps = new Set<string>()
  /** The steps reached where people can be asked. */
  readonly asking = new Set<string>()
  private readonly taken = new Map<string, { times: number; really: boolean }>()
  /** Whether the last path reached something new. */
  grew = false

  /** @param isAside whether on the cleanup path or the failure path */
  visit(stepId: string, isAside: boolean): void {
    if (!isAside) this.asking.add(stepId)
    if (this.steps.has(stepId)) return
    this.steps.add(stepId)
    this.grew = true
  }

  leave(stepId: string, exit: string, really: boolean): void {
    const key = `${stepId} ${exit}`
    const last = this.taken.get(key)
    if (!last) this.grew = true
    this.taken.set(key, { times: (last?.times ?? 0) + 1, really: really || last?.really === true })
  }

  times(stepId: string, exit: string): number {
    return this.taken.get(`${stepId} ${exit}`)?.times ?? 0
  }

  /** Whether the values of some path led there. */
  really(stepId: string, exit: string): boolean {
    return this.taken.get(`${stepId} ${exit}`)?.really === true
  }
}

/** A step that failed in a simulation, by itself. */
export interface Failed {
  stepId: string
  code: string
  message: string
  /** Whether an edge, or the failure path, continues from there. */
  handled: boolean
}

/** The places with something left to explore. */
export interface Goals {
  leads: (stepId: string, exit: string) => boolean
}

const MAX_SHOWN = 100

/** One path: its choices and events. */
export class Path {
  readonly visits: string[] = []
  /** The number of its visits. */
  length = 0
  readonly failures: Failed[] = []
  /** Steps that may have failed only because of unknown values. */
  readonly doubts = new Set<string>()
  /** Whether a part of its course does not follow from its values. */
  assumed = false
  private readonly picked = new Map<string, number>()

  /**
   * @param nth from 0: the first path takes every first option
   * @param goals for a path to exits that no path has taken, regardless of the values: the steps that lead there
   */
  constructor(
    private readonly nth: number,
    private readonly coverage: Coverage,
    private readonly goals: Goals | null,
  ) {}

  visit(stepId: string, branch: string, isAside: boolean): void {
    this.coverage.visit(stepId, isAside)
    this.length++
    const at = branch.indexOf('/')
    if (this.visits.length < MAX_SHOWN) this.visits.push(at < 0 ? stepId : `${branch.slice(at + 1)}/${stepId}`)
  }

  leave(stepId: string, exit: string): void {
    this.coverage.leave(stepId, exit, !this.assumed)
  }

  fail(stepId: string, { code, message }: { code: string; message: string }, handled: boolean, sure: boolean): void {
    if (!sure || this.assumed) this.doubts.add(stepId)
    else this.failures.push({ stepId, code, message, handled })
  }

  doubt(stepId: string): void {
    this.doubts.add(stepId)
    this.assume()
  }

  assume(): void {
    this.assumed = true
  }

  /** Whether it takes an exit only to explore what follows. */
  wants(stepId: string, exit: string): boolean {
    return this.goals !== null && this.coverage.times(stepId, exit) === 0
  }

  /** The exit taken least often; for a path with goals, one that leads to them. */
  choose(stepId: string, ways: readonly string[]): string | undefined {
    const { goals } = this
    const towards = goals ? ways.filter((way) => this.wants(stepId, way) || goals.leads(stepId, way)) : []
    return (towards.length > 0 ? towards : ways).toSorted(
      (a, b) => this.coverage.times(stepId, a) - this.coverage.times(stepId, b),
    )[0]
  }

  /** For a path with goals: whether an exit leads to none of them although another one does. */
  leadsAway(stepId: string, exit: string, ways: readonly string[]): boolean {
    const { goals } = this
    return goals !== null && !goals.leads(stepId, exit) && ways.some((way) => goals.leads(stepId, way))
  }

  /** A different option on each path: all of them in turn, in an order of its own for each value. */
  pick<T>(about: string, options: readonly T[]): T {
    const count = options.length
    const times = this.picked.get(about) ?? 0
    this.picked.set(about, times + 1)
    let hash = 7
    for (const letter of about) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0
    const strides = stridesOf(count)
    const stride = strides[hash % strides.length] ?? 1
    // The first path takes every first option; the second round begins elsewhere.
    return options[(this.nth * stride + Math.floor(this.nth / count) * (hash % 5) + times) % count] as T
  }
}

/** The last count and its strides: a cache, because values of the same kind follow each other. */
let last: { count: number; strides: number[] } = { count: 0, strides: [] }

/** The strides that visit every one of `count` options. */
function stridesOf(count: number): number[] {
  if (count !== last.count) {
    const all = Array.from({ length: count }, (_, at) => at + 1)
    last = { count, strides: all.filter((stride) => greatest(stride, count) === 1) }
  }
  return last.strides
}

function greatest(a: number, b: number): number {
  return b === 0 ? a : greatest(b, a % b)
}
