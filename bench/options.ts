import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const WORKS = ['W0', 'W1', 'W2', 'W3', 'W4', 'W5', 'W7', 'reads'] as const
export type Work = (typeof WORKS)[number]

export interface Options {
  works: Work[]
  /** How long each rate is measured. */
  seconds: number
  /** The numbers of callers that rates are measured with. */
  callers: number[]
  /** Also runs the peers, alternating with the product. */
  peers: boolean
  rounds: number
  /** The Node version to run everything on, from npm; by default the current one. */
  node: string | undefined
  /** The folder of another build, with which this one alternates. */
  against: string | undefined
  /** Prints tables instead of a JSON line per measure. */
  markdown: boolean
  /** The peers' folder. Preserved if given; otherwise a temporary folder. */
  scratch: string | undefined
  /** W2: how many runs are started. */
  bulk: number
  /** W3: how many runs are held paused. */
  held: number
  /** W4: the steps of the long run; peers have runs of 100 and 1,000. */
  steps: 100 | 1000
  /** Reads: how many runs the list has. */
  seeded: number
}

export const USAGE = `npm run bench -- [options]
  --works W1,W3     which works, of ${WORKS.join(', ')} (default: all; with --peers all but W0 and reads)
  --seconds 4       how long each rate is measured
  --callers 1,16,64 the numbers of callers for rates
  --bulk 2000       W2: runs to start
  --held 1000       W3: runs to hold paused
  --steps 1000      W4: steps of the long run, 100 or 1000
  --seeded 100000   reads: runs in the list
  --peers           also run Mastra, DBOS and Restate, installed from npm into a scratch folder
  --against <dir>   compare with the build in another folder: both live, and take turns
  --rounds 3        rounds to take, interleaved (default: 1, with --peers 3, with --against 15)
  --scratch <dir>   keep the peers' installation in this folder, outside the repository
  --node 24         run all of it, peers too, on that version of Node, from npm
  --markdown        print tables to paste into docs/performance.md
`

/** @throws Error with one sentence about the invalid option */
export function readOptions(args: string[]): Options {
  const text = (fallback: string) => ({ type: 'string' as const, default: fallback })
  const { values } = parseArgs({
    args,
    options: {
      works: { type: 'string' },
      seconds: text('4'),
      callers: text('1,16,64'),
      bulk: text('2000'),
      held: text('1000'),
      steps: text('1000'),
      seeded: text('100000'),
      peers: { type: 'boolean', default: false },
      against: { type: 'string' },
      rounds: { type: 'string' },
      scratch: { type: 'string' },
      markdown: { type: 'boolean', default: false },
      node: { type: 'string' },
    },
  })
  const steps = whole('steps', values.steps, 1000)
  if (steps !== 100 && steps !== 1000) throw new Error('--steps must be 100 or 1000.')
  const { peers, markdown, scratch, node, against } = values
  if (against !== undefined && peers) throw new Error('--against and --peers are two different comparisons.')
  if (node !== undefined && !/^\d+(\.\d+){0,2}$/.test(node)) throw new Error('--node must be a version, such as 24.')
  return {
    works: worksOf(values.works ?? WORKS.filter((work) => !peers || /^W[1-7]$/.test(work)).join()),
    seconds: whole('seconds', values.seconds, 600),
    callers: values.callers.split(',').map((one) => whole('callers', one, 256)),
    peers,
    rounds: whole('rounds', values.rounds ?? (peers ? '3' : against ? '15' : '1'), against ? 100 : 20),
    against: against === undefined ? undefined : resolve(against),
    markdown,
    scratch,
    node,
    bulk: whole('bulk', values.bulk, 100_000),
    held: whole('held', values.held, 100_000),
    steps,
    seeded: whole('seeded', values.seeded, 5_000_000),
  }
}

function worksOf(text: string): Work[] {
  return text.split(',').map((name) => {
    const found = WORKS.find((work) => work.toLowerCase() === name.trim().toLowerCase())
    if (!found) throw new Error(`--works has no ${name}; it may list ${WORKS.join(', ')}.`)
    return found
  })
}

function whole(name: string, text: string, most: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new Error(`--${name} must be a whole number from 1 to ${most}.`)
  return value
}
