import type { ServiceContext } from '../../context'
import { type Counts, countsOf, type Group, groupsOf, type Judged } from '../../definition/verdict-groups'
import { judgeSome } from './run'
import type { Sample } from './sample'
import { MAX_CHUNK } from './schema'
import type { Trying } from './trial'

export interface Backtest {
  workflowId: string
  version: number
  sampled: Sample['sampled']
  counts: Counts
  groups: Group[]
  /** The verdicts on each run, if they were asked for. */
  runs?: Judged[]
  /** Whether the time was over before all runs were tried. */
  truncated: boolean
}

/** A sample of past runs that is tried a few at a time. */
export class TriedSample {
  readonly judged: Judged[] = []
  private readonly standsFor: ReadonlyMap<string, number>
  private left: string[]

  constructor(
    private readonly trying: Trying,
    private readonly sample: Sample,
  ) {
    this.standsFor = new Map(sample.runs.map((run) => [run.id, run.standsFor]))
    this.left = [...this.standsFor.keys()]
  }

  get isDone(): boolean {
    return this.left.length === 0
  }

  /** Judges the next ones until a time has come, but at least one. */
  async goOn(ctx: ServiceContext, until: number, signal: AbortSignal): Promise<void> {
    const some = await judgeSome(ctx, this.trying, this.left.slice(0, MAX_CHUNK), until, signal)
    this.judged.push(...some.runs)
    this.left = [...some.left, ...this.left.slice(MAX_CHUNK)]
  }

  answer(): Backtest {
    const { id: workflowId, version } = this.trying.target
    return {
      ...{ workflowId, version, sampled: this.sample.sampled, counts: countsOf(this.judged) },
      groups: groupsOf(this.judged, (runId) => this.standsFor.get(runId) ?? 1),
      truncated: !this.isDone,
    }
  }
}
