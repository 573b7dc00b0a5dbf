import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { TestModule } from 'vitest/node'
import { countVitest, failedFiles, outsideReport } from '../support/counts'
import OutsideErrors, { OUTSIDE_REPORT } from '../support/outside-errors'

const module = (moduleId: string, state: string) => ({ moduleId, state: () => state }) as unknown as TestModule
const late = { name: 'Error', message: 'late', stack: 'Error: late\n    at a.ts:1:1', VITEST_TEST_PATH: '/a.test.ts' }

/** The counts of a run in which every test passed, but for what no test reports. */
function counted(modules: TestModule[], errors: Parameters<OutsideErrors['onTestRunEnd']>[1]) {
  const report = join(mkdtempSync(join(tmpdir(), 'millrace-outside-')), 'report.json')
  const none = { numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] }
  writeFileSync(report, JSON.stringify({ numPassedTests: 5, ...none }))
  vi.stubEnv(OUTSIDE_REPORT, outsideReport(report))
  new OutsideErrors().onTestRunEnd(modules, errors, 'failed')
  return { ...countVitest(report), again: failedFiles(report) }
}

test('an error outside of any test is a failure that names its file, which runs again', () => {
  expect(counted([module('/a.test.ts', 'passed')], [late])).toEqual({
    ...{ passed: 5, failed: 1, skipped: 0, again: ['/a.test.ts'] },
    failures: ['/a.test.ts > outside of its tests\n  Error: late\n      at a.ts:1:1'],
  })
})

test('a worker that died is a failure of each file that it left, which run again', () => {
  const died = { name: 'Error', message: '[vitest-pool]: Worker forks emitted error.' }
  const counts = counted([module('/b.test.ts', 'pending'), module('/a.test.ts', 'passed')], [died])
  expect(counts).toMatchObject({ failed: 1, again: ['/b.test.ts'] })
  expect(counts.failures.join()).toMatch(/\/b\.test\.ts > outside of its tests.*Worker forks emitted error/s)
})

test('after an error that is nobody’s, nothing runs again', () => {
  const lost = { name: 'Error', message: 'lost' }
  expect(counted([module('/a.test.ts', 'passed')], [lost, late])).toMatchObject({ failed: 2, again: null })
})

test('a run without such errors has none', () => {
  expect(counted([module('/a.test.ts', 'passed')], [])).toMatchObject({ failed: 0, failures: [], again: [] })
})
