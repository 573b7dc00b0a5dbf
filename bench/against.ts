import { repeat, until, warmUp } from './drive'
import type { Loopback } from './loopback'
import { type Millrace, millrace } from './millrace'
import type { Options, Work } from './options'
import { median, percentile, round } from './stats'
import { resumed } from './works/pauses'

/** One turn of a build, in milliseconds: short, so that both builds meet the same minute. */
interface Turn {
  work: Work
  what: string
  take(subject: Millrace): Promise<number>
}

const runs = (callers: number, count: number): Turn => ({
  work: 'W1',
  what: `five trivial steps, c${callers}`,
  take: (subject) => timed(() => repeat(count, callers, () => subject.run('trivial'))),
})
const ONE_AFTER_ANOTHER = 100
const BESIDE_EACH_OTHER = 600
const STARTS = 400
const RESUMES = 20

const TURNS: readonly Turn[] = [
  runs(1, ONE_AFTER_ANOTHER),
  runs(64, BESIDE_EACH_OTHER),
  {
    work: 'W2',
    what: 'async starts, completed',
    async take(subject) {
      const done = (await subject.completed()) + STARTS
      return timed(async () => {
        await repeat(STARTS, 16, () => subject.start('trivial'))
        await until(`${STARTS} runs completed`, async () => (await subject.completed()) >= done, { every: 10 })
      })
    },
  },
  {
    work: 'W3',
    what: 'resume to completed',
    async take(subject) {
      const times: number[] = []
      for (let count = 0; count < RESUMES; count++) times.push((await resumed({ subject })).completed)
      return median(times)
    },
  },
  { work: 'W4', what: 'a run of 100 steps', take: async (subject) => (await subject.runLong(100)).ms },
]

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** The result of a turn: this build's speed relative to the other's, which is 1. */
export interface Paired {
  what: string
  /** The median of the pairs' ratios, and its quartiles. */
  ratio: number
  low: number
  high: number
  pairs: number
}

/**
 * Compares this build with another one in the folder `against`. Both run all the time and alternate, each going first
 * in turn, so that a machine that is busy for a while is busy for both. The build that starts first is up to 3 % slower
 * or faster for as long as it lives, so each starts first for half of the pairs.
 * @param undo collects the functions that end them
 */
export async function compareBuilds(
  loopback: Loopback,
  { against, works, rounds }: Options & { against: string },
  undo: (() => unknown)[],
  log: (message: string) => void,
): Promise<Paired[]> {
  const turns = TURNS.filter(({ work }) => works.includes(work))
  const ratios = new Map(turns.map(({ what }) => [what, [] as number[]]))
  const half = Math.ceil(rounds / 2)
  for (const thisFirst of [true, false]) {
    const builds: [Millrace, Millrace] = [millrace(loopback), millrace(loopback, against)]
    for (const build of thisFirst ? builds : builds.toReversed()) {
      undo.push(() => build.down())
      await build.up()
    }
    for (const turn of turns)
      ratios.get(turn.what)?.push(...(await alternate(turn, builds, thisFirst ? half : rounds - half, log)))
    for (const build of builds) await build.down()
  }
  return turns.map(({ work, what }) => {
    const sorted = (ratios.get(what) ?? []).sort((a, b) => a - b)
    const [low, high] = [percentile(sorted, 0.25), percentile(sorted, 0.75)]
    return { what: `${work} ${what}`, ratio: median(sorted), low, high, pairs: sorted.length }
  })
}

/** The first build's speed in each pair of turns, where the second's is 1. */
async function alternate(
  turn: Turn,
  builds: [Millrace, Millrace],
  pairs: number,
  log: (message: string) => void,
): Promise<number[]> {
  for (const build of builds) {
    await warmUp(() => build.run('trivial'))
    await turn.take(build)
  }
  const ratios: number[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
    const took: [number, number] = [0, 0]
    for (const nth of order) took[nth] = await turn.take(builds[nth])
    ratios.push(took[1] / took[0])
    log(`${turn.work} ${turn.what}, pair ${pair + 1}: ${round(took[0])} and ${round(took[1])} ms`)
  }
  return ratios
}
