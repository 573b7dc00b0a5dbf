import { existsSync, readFileSync } from 'node:fs'

/** How many tests passed, failed and so on, and the names of those that failed. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
  failures?: string[]
}

export const NOTHING: Counts = { passed: 0, failed: 0, skipped: 0 }

/** The last lines of a run: the failed tests, so that nobody has to look for them further up, and the count. */
export function total(all: Counts[]): Counts & { lines: string[] } {
  const sum = (of: 'passed' | 'failed' | 'skipped') => all.reduce((so, counts) => so + counts[of], 0)
  const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')]
  const failures = all.flatMap((counts) => counts.failures ?? [])
  return {
    ...{ passed, failed, skipped },
    lines: [
      ...failures.map((name) => `failed: ${name}`),
      `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    ],
  }
}

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[]
}

/** Zero when there is no report. */
export function countVitest(file: string): Counts {
  if (!existsSync(file)) return NOTHING
  const report = JSON.parse(readFileSync(file, 'utf8')) as VitestReport
  const failures = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => `${name} > ${fullName}`),
  )
  // A file that cannot be loaded has no tests to count.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [...failures, ...broken.map(({ name }) => name)],
  }
}

interface PlaywrightSuite {
  title: string
  specs: { title: string; tests?: { status: string }[] }[]
  suites?: PlaywrightSuite[]
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number }
  suites: PlaywrightSuite[]
}

/** Zero when there is no report. */
export function countPlaywright(file: string): Counts {
  if (!existsSync(file)) return NOTHING
  const { stats, suites } = JSON.parse(readFileSync(file, 'utf8')) as PlaywrightReport
  const failures = titles(suites, ({ tests = [] }) =>
    tests.some(({ status }) => status === 'unexpected' || status === 'flaky'),
  )
  return { passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped, failures }
}

/** Files and tests listed in a Playwright report. */
export function titlesOf(file: string): string[] {
  return existsSync(file) ? titles((JSON.parse(readFileSync(file, 'utf8')) as PlaywrightReport).suites) : []
}

function titles(
  suites: PlaywrightSuite[],
  listed: (spec: PlaywrightSuite['specs'][number]) => boolean = () => true,
): string[] {
  return suites.flatMap(({ title, specs, suites: inner = [] }) =>
    [...specs.filter(listed).map((spec) => spec.title), ...titles(inner, listed)].map((name) => `${title} > ${name}`),
  )
}
