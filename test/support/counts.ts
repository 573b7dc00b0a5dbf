import { existsSync, readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import type { OutsideError } from './outside-errors'

/** Test counts by result. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
  /** The failures and their errors, for the end of the output: the failure itself is thousands of lines above. */
  failures: string[]
  /** Runs the files of the failed tests once more; absent if that would prove nothing. */
  again?: () => Promise<Counts>
  /** Tests that failed first and then passed. */
  unstable?: string[]
}

export const NOTHING: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] }

/** Counts one failure that no test reported. */
export function oneFailure(why: string): Counts {
  return { ...NOTHING, failed: 1, failures: [why] }
}

/** The last line of a run. */
export function total(all: Counts[]): Counts & { line: string; unstable: string[] } {
  const sum = (of: 'passed' | 'failed' | 'skipped') => all.reduce((so, counts) => so + counts[of], 0)
  const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')]
  return {
    ...{ passed, failed, skipped, failures: all.flatMap(({ failures }) => failures) },
    unstable: all.flatMap(({ unstable = [] }) => unstable),
    line: `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
  }
}

/** The first lines of an error, without terminal colours and frames of libraries. */
function beginning(message: string): string {
  const lines = stripVTControlCharacters(message).split('\n')
  return lines
    .filter((line) => !/^\s+at .*(node_modules|node:internal)/.test(line))
    .slice(0, 12)
    .join('\n  ')
}

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { status: string; fullName: string; failureMessages?: string[] }[]
  }[]
}

/** The files with a failed test, or with an error outside of any. Null if one of these errors is nobody's. */
export function failedFiles(file: string): string[] | null {
  const outside = outsideErrors(file).map((error) => error.file)
  if (!existsSync(file) || outside.includes(null)) return null
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as VitestReport
  const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)
  return [...new Set([...failed, ...outside.filter((name) => name !== null)])]
}

/** Where `OutsideErrors` writes beside a report. */
export const outsideReport = (report: string) => `${report}.outside`

function outsideErrors(report: string): OutsideError[] {
  const file = outsideReport(report)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as OutsideError[]) : []
}

/** Zero without a report. */
export function countVitest(file: string): Counts {
  if (!existsSync(file)) return NOTHING
  const report = JSON.parse(readFileSync(file, 'utf8')) as VitestReport
  // A file that cannot be loaded has no tests to count.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  const outside = outsideErrors(file)
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length + outside.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [
      ...outside.map((error) => `${error.file ?? 'No file'} > outside of its tests\n  ${beginning(error.message)}`),
      ...broken.map(({ name, message }) => `${name}\n  ${beginning(message)}`),
      ...report.testResults.flatMap(({ name, assertionResults }) =>
        assertionResults
          .filter(({ status }) => status === 'failed')
          .map((test) => `${name} > ${test.fullName}\n  ${beginning((test.failureMessages ?? []).join('\n'))}`),
      ),
    ],
  }
}

interface PlaywrightSuite {
  title: string
  specs: PlaywrightSpec[]
  suites?: PlaywrightSuite[]
}

interface PlaywrightSpec {
  title: string
  tests?: { status?: string; results?: { error?: { message?: string } }[] }[]
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number }
  suites: PlaywrightSuite[]
}

/** Zero without a report. */
export function countPlaywright(file: string): Counts {
  if (!existsSync(file)) return NOTHING
  const { stats, suites } = JSON.parse(readFileSync(file, 'utf8')) as PlaywrightReport
  return {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky,
    skipped: stats.skipped,
    failures: specs(suites).flatMap(({ name, spec }) => failuresOf(name, spec)),
  }
}

function failuresOf(name: string, spec: PlaywrightSpec): string[] {
  return (spec.tests ?? [])
    .filter(({ status }) => status === 'unexpected' || status === 'flaky')
    .map(({ results = [] }) => `${name}\n  ${beginning(results.map(({ error }) => error?.message ?? '').join('\n'))}`)
}

/** Files and tests listed in a Playwright report. */
export function titlesOf(file: string): string[] {
  if (!existsSync(file)) return []
  return specs((JSON.parse(readFileSync(file, 'utf8')) as PlaywrightReport).suites).map(({ name }) => name)
}

function specs(suites: PlaywrightSuite[]): { name: string; spec: PlaywrightSpec }[] {
  return suites.flatMap(({ title, specs: own, suites: inner = [] }) =>
    [...own.map((spec) => ({ name: spec.title, spec })), ...specs(inner)].map(({ name, spec }) => ({
      name: `${title} > ${name}`,
      spec,
    })),
  )
}
