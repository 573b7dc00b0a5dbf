import { expect, it } from 'vitest'
import { startCurl } from '@/app/(dashboard)/[tenant]/runs/curl'
import { cursorOf, filterOf, inputOf, isEveryRun } from '@/app/(dashboard)/[tenant]/runs/run-filter'

it('the list’s URL determines the query, and invalid values are ignored', () => {
  const read = (query: string) => inputOf(new URLSearchParams(query))
  expect(
    read('q=%20a%20&status=failed&status=paused&workflow=wf_1&version=3&from=2026-03-01&trigger=user&step=pay&code=X'),
  ).toEqual({
    q: 'a',
    states: ['failed', 'paused'],
    workflowIds: ['wf_1'],
    version: 3,
    from: '2026-03-01T00:00:00.000Z',
    via: 'user',
    failedAt: 'pay',
    code: 'X',
  })
  expect(read(`cursor=${cursorOf('before', 'abc-_9')}`)).toEqual({ before: 'abc-_9' })
  expect(read(`cursor=${cursorOf('after', 'abc')}`)).toEqual({ after: 'abc' })
  expect(read('status=asleep&workflow=%27&version=0&from=soon&trigger=me&cursor=x&q=')).toEqual({})
})

it('a copied command contains no key, and no value can end its quotes', () => {
  const text = startCurl({ origin: 'http://h', tenantId: 'ten_1', workflowId: 'wf_1', input: { a: "it's" } })
  expect(text).toContain('"x-api-key: $API_KEY"')
  expect(text).toContain(`-d '{"a":"it'\\''s"}'`)
})

it('a filter without anything in it means every run, wherever its list was left', () => {
  const everything = (query: string) => isEveryRun(filterOf(inputOf(new URLSearchParams(query))))
  expect(everything(`cursor=${cursorOf('after', 'abc')}&status=asleep`)).toBe(true)
  for (const query of ['q=a', 'status=failed', 'workflow=wf_1', 'key=X']) expect(everything(query)).toBe(false)
})
