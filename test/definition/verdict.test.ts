import { expect, test } from 'vitest'
import type { JsonValue } from '@/server/definition/json'
import { type Needs, verdictOf, type Way } from '@/server/definition/verdict'

type End = Way['end']

/** A way in short: `check true` is a visit of `check` that took the exit `true`, `@b/step` one in the branch b. */
function way(text: string, end: End): Way {
  const times = new Map<string, number>()
  const visits = text
    .split(', ')
    .filter((part) => part !== '')
    .map((part) => {
      const [place = '', exit = null] = part.split(' ')
      const [branch = 'main', stepId = ''] = place.startsWith('@') ? place.slice(1).split('/') : ['main', place]
      const visit = (times.get(place) ?? 0) + 1
      times.set(place, visit)
      return exit === 'stopped'
        ? { branch, stepId, visit, exit: null, isStopped: true as const }
        : { branch, stepId, visit, exit }
    })
  return { visits, end }
}
const gives = (result: JsonValue): End => ({ result })
const fails = (stepId: string, code = 'FAILED'): End => ({ failed: { code, message: 'No', stepId } })
const needs: Needs = { why: 'never called', place: { branch: 'main', stepId: 'call', visit: 1 } }
const unknown: End = { needs }

const none = { new: [], gone: [], changed: [] }
const COMMON = ['start', 'check', 'pay', 'refuse', 'fork', 'end', 'call']
function judged(was: Way, now: Way) {
  const {
    calls: _calls,
    assumed: _assumed,
    ...verdict
  } = verdictOf(was, now, {
    ...{ common: new Set(COMMON), calls: none, assumed: [] },
  })
  return verdict
}
const at = (stepId: string, visit = 1) => ({ branch: 'main', stepId, visit })

test('the same way to the same result is the same, also with steps that only one version has', () => {
  const was = way('start, old, check true, pay', gives({ a: 1, b: 2 }))
  expect(judged(was, way('start, check true, new, pay', gives({ b: 2, a: 1 })))).toEqual({ is: 'same' })
  expect(judged(was, way('start, check true, pay', gives({ a: 1, b: 3, c: 4 })))).toEqual({
    ...{ is: 'result', fields: ['b', 'c'] },
  })
})

test('the first common visit after which two ways part is the difference', () => {
  const was = way('start, check false, refuse', gives({}))
  expect(judged(was, way('start, check true, pay', gives({})))).toEqual({
    ...{ is: 'way', at: at('check') },
    ...{ was: { exit: 'false', next: 'refuse' }, now: { exit: 'true', next: 'pay' } },
  })
  // Also where it leads elsewhere by the same exit, or ends.
  expect(judged(was, way('start, check false, pay', gives({})))).toMatchObject({ is: 'way', at: at('check') })
  expect(judged(was, way('start, check false', gives({})))).toMatchObject({ now: { exit: 'false', next: null } })
  expect(judged(way('start, start, end', gives({})), way('start, end', gives({})))).toMatchObject({ at: at('start') })
})

test('what is unknown counts only before the first difference', () => {
  const was = way('start, check false, refuse', gives({}))
  expect(judged(was, way('start, check', unknown))).toEqual({ is: 'untold', needs })
  expect(judged(was, way('start, check true, pay', unknown))).toMatchObject({ is: 'way', at: at('check') })
})

test('a run that would fail, or get past its failure, is judged by that', () => {
  const good = way('start, check true, pay', gives({}))
  const bad = way('start, check', fails('check'))
  expect(judged(good, bad)).toEqual({ is: 'fails', at: 'check', code: 'FAILED', message: 'No' })
  expect(judged(bad, good)).toEqual({ is: 'passes', at: 'check', onward: 'ends' })
  expect(judged(bad, bad)).toEqual({ is: 'same' })
  expect(judged(bad, way('start, check', unknown))).toEqual({ is: 'untold', needs })
  expect(judged(bad, way('start, check true, call', unknown))).toMatchObject({ is: 'passes', onward: 'unknown' })
  expect(judged(bad, way('start, check true, pay', fails('pay')))).toMatchObject({ is: 'passes', onward: 'fails' })
})

test('branches are compared one by one, also those that were stopped early', () => {
  const was = way('fork, @a/check true, @b/call, end', gives({}))
  expect(judged(was, way('fork, @b/call, @a/check true, end', gives({})))).toEqual({ is: 'same' })
  const raced = way('fork, @a/check stopped, @b/call, end', gives({}))
  expect(judged(raced, way('fork, @b/call, @a/check true, @a/pay, end', gives({})))).toEqual({ is: 'same' })
  expect(judged(was, way('fork, @b/call, @a/check true, @a/pay, end', gives({})))).toMatchObject({
    ...{ is: 'way', now: { exit: 'true', next: 'pay' } },
  })
  expect(judged(was, way('fork, @a/check false, end', gives({})))).toMatchObject({
    ...{ is: 'way', at: { branch: 'a', stepId: 'check', visit: 1 } },
  })
})

test('a branch whose number begins like that of the branch where a walk stops has ended', () => {
  const visit = (branch: string, stepId: string) => ({ branch, stepId, visit: 1, exit: null })
  const fork = 'main/fork#1'
  const was = {
    visits: [
      visit('main', 'fork'),
      visit(`${fork}/1`, 'check'),
      visit(`${fork}/1`, 'pay'),
      visit(`${fork}/10`, 'check'),
    ],
    end: gives({}),
  }
  const stopsIn = (branch: string) => ({
    visits: [visit('main', 'fork'), visit(`${fork}/1`, 'check'), visit(`${fork}/${branch}`, 'check')],
    end: unknown,
  })
  expect(judged(was, stopsIn('10'))).toMatchObject({ is: 'way', at: { branch: `${fork}/1`, stepId: 'check' } })
  expect(judged(was, stopsIn('2'))).toEqual(judged(was, stopsIn('10')))
  expect(judged(was, stopsIn('1/call#1/0'))).toMatchObject({ is: 'untold' })
})
