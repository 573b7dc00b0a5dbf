import { describe, expect, it } from 'vitest'
import { segmentsOf } from '@/server/views/runs/segments'

const none = { attempts: [], atWork: false, dueAt: null, wait: null }

describe('the time of a visit', () => {
  it.each([
    ['computed at once', { start: 5, end: 5 }, [['running', 5, 5]]],
    ['not begun yet', { start: 5, end: null }, [['queued', 5, null]]],
    ['at its first attempt', { start: 5, end: null, atWork: true }, [['running', 5, null]]],
    [
      'queued before its attempt',
      { start: 5, end: 9, attempts: [{ start: 7, end: 9 }] },
      [
        ['queued', 5, 7],
        ['running', 7, 9],
      ],
    ],
    [
      'between two attempts',
      { start: 0, end: null, attempts: [{ start: 0, end: 2 }], dueAt: 12 },
      [
        ['running', 0, 2],
        ['queued', 2, null],
      ],
    ],
    [
      'at its second attempt',
      { start: 0, end: null, attempts: [{ start: 0, end: 2 }], dueAt: 12, atWork: true },
      [
        ['running', 0, 2],
        ['queued', 2, 12],
        ['running', 12, null],
      ],
    ],
    [
      'whose part has asked, while people are asked',
      { start: 0, end: null, attempts: [{ start: 0, end: 2, part: 'asks' as const }], dueAt: 2 },
      [
        ['running', 0, 2],
        ['waiting', 2, null],
      ],
    ],
    [
      'whose part ended because of its time, while the next one works',
      { start: 0, end: null, attempts: [{ start: 0, end: 2, part: 'time' as const }], dueAt: 2, atWork: true },
      [['running', 0, null]],
    ],
    [
      'that had two parts',
      {
        start: 0,
        end: 9,
        attempts: [
          { start: 0, end: 2, part: 'time' as const },
          { start: 3, end: 9 },
        ],
      },
      [['running', 0, 9]],
    ],
    [
      'waiting for a person',
      { start: 0, end: null, wait: { start: 1, end: null } },
      [
        ['queued', 0, 1],
        ['waiting', 1, null],
      ],
    ],
    [
      'answered and not yet gone on',
      { start: 0, end: null, wait: { start: 0, end: 50 } },
      [
        ['waiting', 0, 50],
        ['queued', 50, null],
      ],
    ],
    [
      'answered and done',
      { start: 0, end: 60, wait: { start: 0, end: 50 } },
      [
        ['waiting', 0, 50],
        ['queued', 50, 60],
      ],
    ],
  ])('%s', (_what, times, expected) => {
    expect(segmentsOf({ ...none, ...times }).map(({ kind, from, to }) => [kind, from, to])).toEqual(expected)
  })
})
