import { describe, expect, test } from 'vitest'
import { isExplained, RUN_FAILURES } from '@/server/definition/failure-codes'
import { PROBLEM_CODES } from '@/server/definition/problem-codes'
import { AppError, ERRORS, type ErrorCode } from '@/server/errors'
import { ERROR_HELP } from '@/server/help/error-help'
import { PROBLEM_HELP } from '@/server/help/problem-help'
import { RUN_FAILURE_HELP } from '@/server/help/run-failure-help'
import { errorResponse, respondError } from '@/server/http/respond'
import { failureClass } from '@/server/telemetry/failure-classes'
import { source } from '../support/imports'

const CODES = Object.keys(ERRORS) as ErrorCode[]

describe('every error code', () => {
  test('has a text, and no text is of a code that is gone', () => {
    expect(Object.keys(ERROR_HELP).sort()).toEqual([...CODES].sort())
  })

  test('with which a run fails is explained, and has one page', () => {
    expect(RUN_FAILURES.filter((code) => code in ERROR_HELP)).toEqual([])
    const counted = [...CODES, ...RUN_FAILURES, 'SOME_CODE_OF_A_TOOL'].filter((code) => failureClass(code) !== 'OTHER')
    expect(counted.filter((code) => !isExplained(code))).toEqual([])
    const page = (code: string) => code in ERROR_HELP || code in RUN_FAILURE_HELP
    expect(counted.filter((code) => !page(code))).toEqual([])
    expect(isExplained('SOME_CODE_OF_A_TOOL')).toBe(false)
  })

  test('that the code of runs, steps and tools gives a failure is explained', () => {
    const notOfFailedRuns = [
      // A person stopped the run.
      ...['CANCELLED', 'TERMINATED'],
      // A tool's answer to a model, whose turn continues.
      'TOO_MANY_CALLS',
      'REJECTED',
      // The sample of `fail-flow`, whose authors choose the code.
      'FAILED',
    ]
    const given = [...source]
      .filter(
        ([file]) =>
          /^(server\/(interpreter|steps|tools|agents|models|net)|inngest)\//.test(file) && !/openapi/.test(file),
      )
      .flatMap(([, text]) => [...text.matchAll(/(?:[Ff]ailure\(\s*|\bcode: )'([A-Z]+(?:_[A-Z]+)*)'/g)])
      .map(([, code = '']) => code)
    expect(given.length).toBeGreaterThan(60)
    const codes = new Set(given)
    expect(codes).toContain('UNKNOWN_STEP')
    expect([...codes].filter((code) => !isExplained(code)).sort()).toEqual(notOfFailedRuns.sort())
  })

  test('of a problem has a page, and each is one that a check finds', () => {
    expect(PROBLEM_CODES.filter((code) => !(code in ERROR_HELP || code in PROBLEM_HELP))).toEqual([])
    const checks = [...source].filter(([file]) => /^server\/(workflows|as-code)\//.test(file) && !/openapi/.test(file))
    const found = new Set(checks.flatMap(([, text]) => text.match(/'[A-Z]+(?:_[A-Z]+)*'/g) ?? []))
    expect(PROBLEM_CODES.filter((code) => !found.has(`'${code}'`))).toEqual([])
  })

  const helps = [ERROR_HELP, RUN_FAILURE_HELP, PROBLEM_HELP].flatMap((each) => Object.entries(each))
  test.each(helps)('%s explains its meaning and the remedy, in whole sentences', (_code, { means, fixes }) => {
    for (const text of [means, ...fixes]) {
      expect(text).toMatch(/^[A-Z`].{15,}[^.]\.$/)
      // Words between backticks are shown as code.
      expect(text.split('`').length % 2, text).toBe(1)
    }
    expect(new Set(fixes).size).toBe(fixes.length)
  })

  test('has a title of its own, the same wherever the code means something', () => {
    const titles = new Map<string, string>()
    for (const [code, { title }] of helps) {
      expect(title, code).toMatch(/^[A-Z].*[^.]$/)
      expect(titles.get(code) ?? title).toBe(title)
      titles.set(code, title)
    }
    expect(new Set(titles.values()).size).toBe(titles.size)
  })
})

test('a response with an error links to the page of its code, and its body is as before', async () => {
  const error = new AppError('RUN_NOT_FOUND')
  const response = respondError(error, 'req-1')
  expect(response.headers.get('link')).toBe('</errors/RUN_NOT_FOUND>; rel="help"')
  const body = {
    success: false,
    error: { message: 'Run not found', code: 'RUN_NOT_FOUND', details: [] },
    requestId: 'req-1',
  }
  expect(await response.text()).toBe(JSON.stringify(body))
  expect(errorResponse(error, 'req-1').headers.link).toBe('</errors/RUN_NOT_FOUND>; rel="help"')
  expect(respondError(new Error('x'), 'req-1').headers.get('link')).toBe('</errors/INTERNAL>; rel="help"')
})
