import { expect, it } from 'vitest'
import { searchesValues } from '@/app/(dashboard)/[tenant]/runs/run-filter'

it('a text is searched for in values unless it is short or a run id, and only then is the total not polled', () => {
  expect(searchesValues('oslo')).toBe(true)
  for (const q of [undefined, '', 'os', 'run_01ABC']) expect(searchesValues(q)).toBe(false)
})
