import { describe, expect, it } from 'vitest'
import { HEATS, heatOf } from '@/app/(dashboard)/[tenant]/_insights/heat'

type Step = NonNullable<Parameters<typeof heatOf>[1]>

const step = (more: Partial<Step> = {}): Step => ({
  ...{ stepId: 'step', visits: 10, failed: 0, p50: 1_000, p95: 4_000 },
  ...{ tokens: null, cost: null, wait: null },
  ...more,
})
const waits = (p50: number | null, waiting = 0): Partial<Step> => ({
  wait: { answers: p50 === null ? 0 : 4, p50, p95: p50, waiting },
})

describe('the heat of a step', () => {
  it('is its share of the hottest step, whichever figure is shown', () => {
    const steps = [
      step({ p50: 500, failed: 5, tokens: 300, ...waits(60_000) }),
      step({ p50: 2_000, failed: 1, tokens: 1_200, ...waits(240_000) }),
    ]
    expect(heatOf('time', steps[0], steps).share).toBe(0.25)
    expect(heatOf('waiting', steps[0], steps).share).toBe(0.25)
    expect(heatOf('tokens', steps[0], steps).share).toBe(0.25)
    for (const heat of ['time', 'waiting', 'tokens'] as const) expect(heatOf(heat, steps[1], steps).share).toBe(1)
  })

  it('is the share of visits that failed, not of the step that failed most', () => {
    const steps = [step({ failed: 2 }), step({ failed: 1 })]
    expect(heatOf('failures', steps[0], steps)).toEqual({ share: 0.2, text: '20% of 10 failed' })
    expect(heatOf('failures', steps[1], steps).share).toBe(0.1)
    expect(heatOf('failures', step(), steps)).toEqual({ share: 0, text: 'never failed' })
  })

  it('is none for a step that no run reached, and none where all figures are zero', () => {
    for (const { value } of HEATS) expect(heatOf(value, undefined, [])).toEqual({ share: 0, text: 'not reached' })
    const idle = step({ p50: 0, p95: 0 })
    for (const { value } of HEATS) expect(heatOf(value, idle, [idle]).share, value).toBe(0)
  })

  it('is none, except for waiting runs, while no visit has ended', () => {
    const open = step({ visits: 0, p50: 0, p95: 0, ...waits(null, 2) })
    for (const { value } of HEATS)
      expect(heatOf(value, open, [open])).toEqual({ share: 0, text: value === 'waiting' ? '2 waiting' : 'under way' })
  })

  it('says how long tasks waited, and how many wait now', () => {
    const text = (more: Partial<Step>) => heatOf('waiting', step(more), [step(more)]).text
    expect(text({})).toBe('no tasks')
    expect(text(waits(61_000))).toBe('half 1\u00a0m\u00a001\u00a0s')
    expect(text(waits(61_000, 3))).toBe('half 1\u00a0m\u00a001\u00a0s, 3 waiting')
    expect(text(waits(null, 2))).toBe('2 waiting')
    expect(heatOf('waiting', step(waits(null, 2)), [step(waits(61_000))]).share).toBe(0)
  })

  it('says the time of half and of nearly all visits', () => {
    expect(heatOf('time', step(), [step()]).text).toBe('half 1.0\u00a0s, 95% 4.0\u00a0s')
  })

  it('says tokens and cost of one visit, and no cost where prices are not set', () => {
    const text = (more: Partial<Step>) => heatOf('tokens', step(more), [step(more)]).text
    expect(text({})).toBe('no tokens')
    expect(text({ tokens: 12_345 })).toBe('1,235 tokens each time')
    expect(text({ tokens: 12_345, cost: 0.5 })).toBe('1,235 tokens each time, cost 0.050')
  })
})
