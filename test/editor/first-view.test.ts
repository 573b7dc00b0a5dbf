import { expect, test } from 'vitest'
import { isWhole, showFirst } from '@/app/(dashboard)/[tenant]/workflows/[id]/canvas/first-view'

const VIEW = { readable: 0.85, height: 560, start: { x: 100, y: 0 } }

/** The position of the view, for a graph that fits at this zoom. */
async function shown(zoom: number, at?: { x: number; y: number }) {
  const centres: unknown[] = []
  const flow = {
    fitView: async () => true,
    getZoom: () => zoom,
    setCenter: async (...centre: unknown[]) => {
      centres.push(centre)
      return true
    },
  }
  await showFirst(flow, { ...VIEW, ...(at ? { at } : {}) })
  return centres
}

test('a graph is shown whole if that is readable, otherwise from its start or around a step', async () => {
  expect(await shown(0.85)).toEqual([])
  const [[x, y, { zoom }]] = (await shown(0.67)) as [[number, number, { zoom: number }]]
  expect([x, zoom]).toEqual([224, 0.9])
  // START is near the upper edge.
  expect((0 - y) * zoom + VIEW.height / 2).toBeCloseTo(48)
  expect(await shown(0.67, { x: 0, y: 900 })).toEqual([[124, 936, { zoom: 0.9 }]])
})

test('a graph is whole in view when no node reaches out of the canvas', () => {
  const nodes = [
    { position: { x: 0, y: 0 }, width: 200, height: 50 },
    { position: { x: 100, y: 500 }, width: 200, height: 100 },
  ]
  const whole = (x: number, y: number, zoom: number) => isWhole(nodes, [x, y, zoom], { width: 320, height: 620 })
  expect(whole(10, 10, 1)).toBe(true)
  expect(whole(-1, 10, 1)).toBe(false)
  expect(whole(21, 10, 1)).toBe(false)
  expect(whole(10, 21, 1)).toBe(false)
  expect(whole(21, 21, 0.9)).toBe(true)
})
