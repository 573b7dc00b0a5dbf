import { expect } from 'vitest'
import { browser } from '../support/runners'
import { scenario } from './rounds'

scenario('every look, width and hostile text of every screen', 1, async () => {
  process.env.SOAK = '1'
  const { passed, failed } = await browser('screens', ['screens', 'hostile-texts'])
  expect(failed).toBe(0)
  expect(passed).toBeGreaterThan(0)
})
