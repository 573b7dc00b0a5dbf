import { describe, expect, test } from 'vitest'
import { inferFields } from '@/app/(dashboard)/[tenant]/workflows/[id]/inspector/infer-fields'
import { afterPath, findEntries, openedAt } from '@/app/(dashboard)/[tenant]/workflows/[id]/widgets/scope-search'

describe('the list of values', () => {
  test('opens only inside ${', () => {
    const at = (text: string) => openedAt(text, text.length)
    expect([at('Hi ${or'), at('${'), at('Hi ${a.b[0]')]).toEqual([3, 0, 3])
    expect([at('${["7f-ü.'), at('${a["b')]).toEqual([0, 0])
    expect([at('Hi'), at('${a}'), at('$${a'), at('${a b')]).toEqual([null, null, null, null])
  })

  test('lists prefixes first, then substrings, then letters in order', () => {
    const entries = ['customer.order', 'o_r_d', 'order', 'amount'].map((name) => ({ name }))
    expect(findEntries(entries, 'ord').map(({ name }) => name)).toEqual(['order', 'customer.order', 'o_r_d'])
    expect(findEntries([{ name: '["7f3c"].total' }], '7f3').map(({ name }) => name)).toEqual(['["7f3c"].total'])
  })

  test('an inserted path takes the place of the one that the caret is in', () => {
    expect([afterPath('c"].total} x'), afterPath('order[0]} y'), afterPath(' z')]).toEqual([' x', ' y', ' z'])
  })
})

describe('START', () => {
  test('infers fields from a sample, without names that are not allowed', () => {
    const sample = JSON.parse(
      '{"id":"A17","count":3,"price":1.5,"ok":true,"list":[],"more":{},"none":null,"__proto__":1,"a b":1}',
    )
    expect(inferFields(sample)).toEqual({
      id: { type: 'string' },
      count: { type: 'integer' },
      price: { type: 'number' },
      ok: { type: 'boolean' },
      list: { type: 'array' },
      more: { type: 'object' },
      none: { type: 'any' },
    })
  })
})
