import { type SpawnOptions, spawn } from 'node:child_process'
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureBuild } from '@/cli/build'
import { CannotStart, print, printError } from '@/cli/print'

// `npm test`: checks types and lint, builds the app if need be, runs every test there is and ends with one line of
// counts. Arguments go to Vitest; then only what they select is run.

interface Counts {
  passed: number
  failed: number
  skipped: number
}

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const BIN = join(ROOT, 'node_modules/.bin')
const NOTHING: Counts = { passed: 0, failed: 0, skipped: 0 }

async function main(): Promise<number> {
  const selection = process.argv.slice(2)
  const all: Counts[] = []
  if (selection.length === 0)
    all.push(await check('types', 'tsc', ['--noEmit']), await check('lint', 'biome', ['check', '.']))
  await ensureBuild({ root: ROOT, log: print, output: 'inherit' })
  const reports = mkdtempSync(join(tmpdir(), 'millrace-report-'))
  try {
    const unit = await runVitest(selection, join(reports, 'vitest.json'))
    const browser = selection.length > 0 ? NOTHING : await runPlaywright(join(reports, 'playwright.json'))
    return conclude([...all, unit, browser])
  } finally {
    rmSync(reports, { recursive: true, force: true })
  }
}

/** A tool that is one test: it finds nothing, or fails. */
async function check(name: string, program: string, args: string[]): Promise<Counts> {
  const code = await run(join(BIN, program), args)
  print(`${name}: ${code === 0 ? 'clean' : 'NOT clean'}`)
  return code === 0 ? { ...NOTHING, passed: 1 } : { ...NOTHING, failed: 1 }
}

function conclude(all: Counts[]): number {
  const sum = (of: keyof Counts) => all.reduce((total, counts) => total + counts[of], 0)
  const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')]
  print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  return failed === 0 && passed > 0 ? 0 : 1
}

async function runVitest(selection: string[], report: string): Promise<Counts> {
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...selection]
  const code = await run(join(BIN, 'vitest'), args)
  const counts = existsSync(report) ? countVitest(JSON.parse(readFileSync(report, 'utf8')) as VitestReport) : NOTHING
  // An error outside of any test, or a runner that died, fails no test but must not pass for success.
  if (code === 0 || counts.failed > 0) return counts
  print(`Vitest ended with code ${code} without a failed test; that counts as one.`)
  return { ...counts, failed: 1 }
}

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: { name: string; status: string; assertionResults: { status: string }[] }[]
}

function countVitest(report: VitestReport): Counts {
  // A file that cannot be loaded has no tests to count.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

async function runPlaywright(report: string): Promise<Counts> {
  if (!existsSync(join(ROOT, 'playwright.config.ts'))) return NOTHING
  const program = join(BIN, 'playwright')
  const chromium = findChromium()
  const env = { ...process.env, PLAYWRIGHT_JSON_OUTPUT_NAME: report, ...(chromium ? { CHROMIUM_PATH: chromium } : {}) }
  if (!chromium) return withoutBrowser(program, env, report)
  const code = await run(program, ['test', '--reporter=list,json'], { env })
  const counts = existsSync(report) ? countPlaywright(readPlaywright(report)) : NOTHING
  if (code === 0 || counts.failed > 0) return counts
  print(`Playwright ended with code ${code} without a failed test; that counts as one.`)
  return { ...counts, failed: 1 }
}

/** Tells by name what could not be run. CI has a browser, so there it is a failure. */
async function withoutBrowser(program: string, env: NodeJS.ProcessEnv, report: string): Promise<Counts> {
  await run(program, ['test', '--list', '--reporter=json'], { env, stdio: 'ignore' })
  const names = existsSync(report) ? titles(readPlaywright(report).suites) : ['the browser tests']
  const verdict = process.env.CI ? 'failed' : 'skipped'
  print('No Chromium was found (CHROMIUM_PATH, chromium, chromium-browser, google-chrome):')
  for (const name of names) print(`  ${verdict}: ${name}`)
  return { ...NOTHING, [verdict]: names.length }
}

interface PlaywrightSuite {
  title: string
  specs: { title: string }[]
  suites?: PlaywrightSuite[]
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number }
  suites: PlaywrightSuite[]
}

function readPlaywright(report: string): PlaywrightReport {
  return JSON.parse(readFileSync(report, 'utf8')) as PlaywrightReport
}

function countPlaywright({ stats }: PlaywrightReport): Counts {
  return { passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped }
}

function titles(suites: PlaywrightSuite[]): string[] {
  return suites.flatMap(({ title, specs, suites: inner = [] }) =>
    [...specs.map((spec) => spec.title), ...titles(inner)].map((name) => `${title} > ${name}`),
  )
}

/** A browser of the system's, as `playwright.config.ts` takes it. */
function findChromium(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const places = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)]
  const candidates = [process.env.CHROMIUM_PATH, ...names.flatMap((name) => places.map((place) => join(place, name)))]
  return candidates.find((path): path is string => Boolean(path) && isProgram(path ?? ''))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function run(program: string, args: string[], options: SpawnOptions = {}): Promise<number | null> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd: ROOT, stdio: 'inherit', ...options })
    child.once('error', fail)
    child.once('exit', done)
  })
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
