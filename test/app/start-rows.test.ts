import { expect, test } from 'vitest'
import { shapeOf } from '@/app/(dashboard)/[tenant]/_arguments/shape'
import { readRows } from '@/app/(dashboard)/[tenant]/workflows/start-values'
import { schemaLike } from '@/app/(dashboard)/[tenant]/workflows/value-schema'

test('the entries of an object’s or a list’s default have typed rows, and more may be added', () => {
  const shape = shapeOf(
    schemaLike({ customer: { name: '', vip: false }, lines: [{ sku: 'A', amount: 2 }], note: null }),
  )
  expect(shape).toMatchObject({ kind: 'object', open: true })
  expect(shape.fields.map(({ name, shape }) => [name, shape.words])).toEqual([
    ['customer', 'object'],
    ['lines', 'list of objects'],
    ['note', 'anything'],
  ])
  expect(shape.fields[0]?.shape.fields.map(({ name, shape }) => [name, shape.kind])).toEqual([
    ['name', 'string'],
    ['vip', 'boolean'],
  ])
  expect(shapeOf(schemaLike([])).item?.kind).toBe('any')
})

test('rows show a value only if they lose nothing of it', () => {
  expect(readRows({ type: 'object' }, ' ')).toEqual({ value: undefined })
  expect(readRows({ type: 'object' }, '{"a": 1}')).toEqual({ value: { a: 1 } })
  for (const text of ['[1]', '{', 'null', '"a"']) expect(readRows({ type: 'object' }, text)).toBeNull()
  expect(readRows({ type: 'array' }, '[1]')).toEqual({ value: [1] })
  expect(readRows({ type: 'array' }, '{}')).toBeNull()
  expect(readRows({ type: 'any' }, '{}')).toBeNull()
  expect(readRows({ type: 'object', options: [{ a: 1 }] }, '')).toBeNull()
})
