import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { SerializedError } from 'vitest'
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

/** What no test reports, in the file that the environment names: `countVitest` reads it beside Vitest's own report. */
export const OUTSIDE_REPORT = 'MILLRACE_TEST_OUTSIDE'

/** Something that went wrong outside of any test; `file` if Vitest knows whose it was. */
export interface OutsideError {
  file: string | null
  message: string
}

/** A Vitest reporter of errors outside of any test, and of files whose worker ended before they did. */
export default class OutsideErrors implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[], reason: TestRunEndReason): void {
    const report = process.env[OUTSIDE_REPORT]
    if (report === undefined) return
    const unfinished = modules.filter((module) => ['queued', 'pending'].includes(module.state()))
    // A worker that died says nothing of its files, but they are what it left.
    const died = errors.filter((error) => unfinished.length > 0 && error.message.startsWith('[vitest-pool]'))
    const because = died.map((error) => `\n${textOf(error)}`).join('')
    const outside: OutsideError[] = [
      ...errors
        .filter((error) => !died.includes(error))
        .map((error) => ({ file: fileOf(error), message: textOf(error) })),
      ...unfinished.map(({ moduleId }) => ({ file: moduleId, message: `It did not run to its end.${because}` })),
    ]
    if (outside.length === 0 && reason === 'interrupted') outside.push({ file: null, message: 'It was interrupted.' })
    writeFileSync(report, JSON.stringify(outside))
  }
}

function fileOf({ VITEST_TEST_PATH: path }: SerializedError): string | null {
  return typeof path === 'string' ? path : null
}

function textOf(error: SerializedError): string {
  const { VITEST_TEST_NAME: test, cause } = error
  const during = typeof test === 'string' ? `during ${relative('', test)}: ` : ''
  const because = cause ? `\n${cause.stack ?? cause.message}` : ''
  return `${during}${error.stack ?? `${error.name}: ${error.message}`}${because}`
}
