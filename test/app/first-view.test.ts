import { expect, test } from 'vitest'
import { landing } from '@/app/(auth)/landing'
import { inputOf } from '@/app/(dashboard)/[tenant]/inbox/task-id'

test('the inbox opens with its first tab only if the URL names neither a tab nor a task', () => {
  const read = (query: string, first: 'mine' | 'open' = 'mine') => {
    const search = new URLSearchParams(query)
    return inputOf((name) => search.get(name) ?? '', first)
  }
  expect(read('')).toEqual({ view: 'mine' })
  expect(read('q=van')).toEqual({ view: 'mine', q: 'van' })
  expect(read('', 'open')).toEqual({})
  expect(read('view=open')).toEqual({})
  expect(read('view=done')).toEqual({ view: 'done' })
  expect(read('task=run_1:main:ask%231')).toEqual({})
  expect(read('task=run_1:main:ask%231&view=mine')).toEqual({ view: 'mine' })
})

test('only operators land in the inbox', () => {
  expect(landing({ slug: 'acme', role: 'operator' })).toBe('/acme/inbox')
  for (const role of ['viewer', 'editor', 'admin', 'owner'] as const)
    expect(landing({ slug: 'acme', role })).toBe('/acme')
})
