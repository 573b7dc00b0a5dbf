import { expect, test } from 'vitest'
import {
  backTo,
  begin,
  came,
  changed,
  changedFields,
  howOf,
  type Session,
  sentOf,
  skipped,
  stoodAt,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/panels/step-through-store'
import type { Stood } from '@/server/runs/step-through/step-through'

const place = (stepId: string, branch = 'main') => ({ branch, stepId, visit: 1 })
const stood = (visits: ReturnType<typeof place>[], next: ReturnType<typeof place> | null, earlier = 0): Stood =>
  ({
    ...{ version: 1, earlier, end: null, computed: [] },
    visits: visits.map((visit) => ({ ...visit, step: visit.stepId, exit: null })),
    next: next && { at: next },
  }) as unknown as Stood

/** Stands before `d`; `b` was typed, and something was changed before `b` and before `d`. */
function walked(): { session: Session; at: Stood } {
  const first = came(begin({ n: 1 }), place('b'), { output: 1 }, 'typed')
  const second = changed(changed(first, place('b'), { n: 2 }), place('d'), { n: 3 })
  const at = stood([place('a'), place('b'), place('c')], place('d'))
  return { session: stoodAt(second, at), at }
}

test('going back drops what was said from there on, and keeps what was said before', () => {
  const { session, at } = walked()
  expect(session.passed).toBe(3)
  const beforeC = backTo(session, at, 2)
  expect(beforeC).toMatchObject({ passed: 2, facts: [{ stepId: 'b' }], changes: [{ before: { stepId: 'b' } }] })
  // A change before the place itself stays.
  const beforeB = backTo(session, at, 1)
  expect(beforeB).toMatchObject({ passed: 1, facts: [], changes: [{ before: { stepId: 'b' } }] })
  expect(backTo(session, at, 0)).toMatchObject({ passed: 0, facts: [], changes: [] })
  // Visits that are not listed any more came before.
  const late = stood([place('y'), place('z')], null, 1_000)
  expect(backTo({ ...session, passed: 1_002 }, late, 1_001)).toMatchObject({ passed: 1_001, facts: [{ stepId: 'b' }] })
})

test('changes of one place are one, and a field that was removed is refused', () => {
  const session = changed(changed(begin({}), place('a'), { n: 1, m: 1 }), place('a'), { n: 2 })
  expect(session.changes).toEqual([{ before: place('a'), fields: { n: 2, m: 1 } }])
  expect(changedFields({ n: 1, m: [1] }, { n: 1, m: [2], k: null })).toEqual({ m: [2], k: null })
  expect(changedFields({ n: 1 }, {})).toEqual({ gone: 'n' })
})

test('skipping leaves the branch in which it stands, and going back undoes it', () => {
  const item = (nth: number) => place('line', `main/each#1/${nth}`)
  const at = stood([place('each'), item(0), item(1)], { ...place('more', 'main/each#1/1') })
  const session = stoodAt(came(begin({}), item(1), { output: 1 }, 'ran'), at)
  const now = skipped(session, at, 'main/each#1', '1', '7')
  expect(now).toMatchObject({ passed: 2, facts: [], skips: [{ scope: 'main/each#1', from: '1', to: '7', at: 2 }] })
  const there = stood([place('each'), item(0)], item(7))
  expect(backTo(now, there, 1).skips).toEqual([])
  expect(backTo(now, there, 2).skips).toHaveLength(1)
})

test('the server is sent what was said, without how it came about', () => {
  const { session, at } = walked()
  const computed = [{ ...place('c'), came: { output: 5 } }]
  const now = stoodAt(session, { ...at, computed })
  expect(howOf(now, place('b'))).toBe('typed')
  expect(howOf(now, place('c'))).toBe('computed')
  expect(howOf(now, place('a'))).toBeNull()
  expect(sentOf(now)).toEqual({
    ...{ input: { n: 1 }, passed: 3, skips: [] },
    facts: [
      { ...place('b'), came: { output: 1 } },
      { ...place('c'), came: { output: 5 } },
    ],
    changes: [
      { before: place('b'), fields: { n: 2 } },
      { before: place('d'), fields: { n: 3 } },
    ],
  })
})
