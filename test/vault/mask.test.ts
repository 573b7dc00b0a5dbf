import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '@/server/definition/json'
import { maskerOf } from '@/server/vault/mask'

const SECRET = 'p@ss/wörd+"9 x\\'

describe('masking', () => {
  test.each<[string, (secret: string) => string]>([
    ['itself', (secret) => `before ${secret} after`],
    ['base64', (secret) => Buffer.from(secret).toString('base64')],
    ['base64url', (secret) => Buffer.from(secret).toString('base64url')],
    ['Basic credentials', (secret) => `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`],
    ['base64 with something on both sides', (secret) => Buffer.from(`ab${secret}:tail`).toString('base64')],
    ['hex', (secret) => Buffer.from(secret).toString('hex')],
    ['percent-encoding', (secret) => `?key=${encodeURIComponent(secret)}&x`],
    ['a form', (secret) => new URLSearchParams({ key: secret }).toString()],
    ['JSON', (secret) => JSON.stringify({ deep: [secret] })],
    ['JSON in JSON', (secret) => JSON.stringify(JSON.stringify({ secret }))],
  ])('finds the secret as %s', (_, write) => {
    const text = write(SECRET)
    const masked = maskerOf([SECRET]).text(text)
    expect(masked).toContain('***')
    for (const piece of [SECRET, 'p@ss', 'p%40ss', 'wörd', Buffer.from(SECRET).toString('base64').slice(4, 12)])
      expect(masked).not.toContain(piece)
  })

  test('leaves no base64 of a secret, for any secret at any position', () => {
    const bytes = fc.string({ maxLength: 12 })
    fc.assert(
      fc.property(fc.string({ minLength: 12, maxLength: 40 }), bytes, bytes, (secret, before, after) => {
        const text = Buffer.from(`${before}${secret}${after}`).toString('base64')
        const masked = maskerOf([secret]).text(text)
        // The rest are characters of its neighbours, and at most one of its own on each side.
        expect(Buffer.from(masked.replaceAll('***', ''), 'base64').toString()).not.toContain(secret)
        expect(masked).toContain('***')
      }),
    )
  })

  test('covers lists, objects, their keys, and numbers', () => {
    const { json } = maskerOf(['123456789012'])
    const value: JsonValue = { list: ['a123456789012b', 123456789012, 5], '123456789012': { deep: null, yes: true } }
    expect(json(value)).toEqual({ list: ['a***b', '***', 5], '***': { deep: null, yes: true } })
  })

  test('masks a short secret of digits in texts and never in numbers', () => {
    const { json } = maskerOf(['8472'])
    expect(json({ text: 'PIN 8472', exact: 8472, within: 184725, far: 1.8472 })).toEqual({
      text: 'PIN ***',
      exact: 8472,
      within: 184725,
      far: 1.8472,
    })
  })

  test('masks the longer of two secrets first, so that nothing of it is left', () => {
    expect(maskerOf(['abcd', 'abcdefgh']).text('abcdefgh abcd')).toBe('*** ***')
  })

  test('changes nothing without secrets', () => {
    const value = { a: [1, 'x'] }
    expect(maskerOf([]).json(value)).toBe(value)
    expect(maskerOf(['abc']).text('abc')).toBe('abc')
  })
})
