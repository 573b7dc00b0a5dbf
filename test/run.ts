import { ensureBuild } from '@/cli/build'
import { CannotStart, print, printError } from '@/cli/print'
import { type Counts, oneFailure, total } from './support/counts'
import { BUILD_ENV, lint, ROOT, seconds, types } from './support/programs'
import { browser, vitest } from './support/runners'
import { secondTry } from './support/second-try'

// `npm test`: types, lint, and every test except the soak; the last line counts them. Arguments are passed to Vitest,
// and then only the selected tests run.

const from = Date.now()

async function main(): Promise<number> {
  const selection = process.argv.slice(2)
  const { line, passed, failed, failures, unstable } = total(
    selection.length > 0 ? await selected(selection) : await secondTry(await everything()),
  )
  print(`It took ${seconds(from)}.`)
  for (const failure of unstable) print(`UNSTABLE, passed when it ran again alone: ${failure}`)
  for (const failure of failures) print(`FAILED ${failure}`)
  print(line)
  return failed === 0 && passed > 0 ? 0 : 1
}

async function selected(selection: string[]): Promise<Counts[]> {
  await ensureBuild({ root: ROOT, env: BUILD_ENV, log: print, output: 'inherit' })
  return [await vitest('tests', selection)]
}

/**
 * Two lanes in parallel, because most tests wait half of their time: tests without a build run next to the build and
 * the browser tests. Then each lane takes the remaining tests, so that neither is idle while the other works.
 */
async function everything(): Promise<Counts[]> {
  const building = build()
  const built = (name: string) => () => afterBuild(building, () => vitest(name, projects(name)))
  const left = [built('processes'), built('service')]
  const lanes = [
    [types, lint, () => vitest('units', projects('check', 'unit*')), () => vitest('main', projects('main*'))],
    [() => afterBuild(building, () => browser('browser'))],
  ]
  const counts = await Promise.all(lanes.map((own) => inTurn(own, left)))
  return counts.flat()
}

/** Runs a lane's own tests, and then those that no lane has taken yet. */
async function inTurn(own: (() => Promise<Counts>)[], left: (() => Promise<Counts>)[]): Promise<Counts[]> {
  const counts: Counts[] = []
  for (const tests of own) counts.push(await tests())
  for (let tests = left.shift(); tests; tests = left.shift()) counts.push(await tests())
  return counts
}

const projects = (...names: string[]) => names.flatMap((name) => ['--project', name])

async function build(): Promise<boolean> {
  try {
    await ensureBuild({ root: ROOT, env: BUILD_ENV, log: print, output: 'inherit' })
    return true
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error
    printError(error.message)
    return false
  }
}

/** If the build fails, none of its tests can run, which counts as one failure. */
async function afterBuild(building: Promise<boolean>, tests: () => Promise<Counts>): Promise<Counts> {
  return (await building) ? tests() : oneFailure('The build failed, so its tests did not run')
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    if (error instanceof CannotStart) printError(error.message)
    else printError(error instanceof Error ? (error.stack ?? error.message) : String(error))
    print('0 passed, 1 failed')
    process.exit(1)
  },
)
