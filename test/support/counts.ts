import { existsSync, readFileSync } from 'node:fs'

/** How many tests passed, failed and so on. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

export const NOTHING: Counts = { passed: 0, failed: 0, skipped: 0 }

/** The last line of a run. */
export function total(all: Counts[]): Counts & { line: string } {
  const sum = (of: keyof Counts) => all.reduce((so, counts) => so + counts[of], 0)
  const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')]
  return {
    ...{ passed, failed, skipped },
    line: `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
  }
}

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: { name: string; status: string; assertionResults: { status: string }[] }[]
}

/** Zero when there is no report. */
export function countVitest(file: string): Counts {
  if (!existsSync(file)) return NOTHING
  const report = JSON.parse(readFileSync(file, 'utf8')) as VitestReport
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

interface PlaywrightSuite {
  title: string
  specs: { title: string }[]
  suites?: PlaywrightSuite[]
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number }
  suites: PlaywrightSuite[]
}

/** Zero when there is no report. */
export function countPlaywright(file: string): Counts {
  if (!existsSync(file)) return NOTHING
  const { stats } = JSON.parse(readFileSync(file, 'utf8')) as PlaywrightReport
  return { passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped }
}

/** Files and tests listed in a Playwright report. */
export function titlesOf(file: string): string[] {
  return existsSync(file) ? titles((JSON.parse(readFileSync(file, 'utf8')) as PlaywrightReport).suites) : []
}

function titles(suites: PlaywrightSuite[]): string[] {
  return suites.flatMap(({ title, specs, suites: inner = [] }) =>
    [...specs.map((spec) => spec.title), ...titles(inner)].map((name) => `${title} > ${name}`),
  )
}
