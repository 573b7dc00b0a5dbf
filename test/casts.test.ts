import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { files, source } from './support/imports'

// A cast hides what the compiler would have found. With typed rows hardly any are needed; the rest belong in helpers,
// with a comment that gives the reason.
const PER_THOUSAND = 2
/** `as never` and `as unknown as`: casts that the compiler does not check at all. */
const BLIND_PER_THOUSAND = 0.4

interface Cast {
  place: string
  type: string
}

/** The type assertions in a file, except `as const`. */
function castsIn(file: string, text: string): Cast[] {
  const found: Cast[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('type' in node && (node.type === 'TSAsExpression' || node.type === 'TSTypeAssertion')) {
      const { start, typeAnnotation } = node as unknown as {
        start: number
        typeAnnotation: { start: number; end: number }
      }
      const type = text.slice(typeAnnotation.start, typeAnnotation.end)
      const line = text.slice(0, start).split('\n').length
      if (type !== 'const') found.push({ place: `${file}:${line} as ${type}`, type })
    }
    Object.values(node).forEach(visit)
  }
  visit(parseAst(text, { lang: 'ts' }))
  return found
}

test('casts are counted in every notation', () => {
  const text =
    "const a = b as unknown as C\nconst d = e as never\nconst f = ['x'] as const\nimport { g as h } from './as any'\n"
  expect(castsIn('x.ts', text).map(({ place }) => place)).toEqual([
    'x.ts:1 as C',
    'x.ts:1 as unknown',
    'x.ts:2 as never',
  ])
})

test('server has few casts', () => {
  const ours = files.filter((file) => file.startsWith('server/') && file.endsWith('.ts'))
  const lines = ours.reduce((sum, file) => sum + (source.get(file) ?? '').split('\n').length - 1, 0)
  const casts = ours.flatMap((file) => castsIn(file, source.get(file) ?? ''))
  const blind = casts.filter(({ type }) => type === 'never' || type === 'unknown')
  const per = (found: Cast[]) => (found.length / lines) * 1000
  expect(per(casts), casts.map(({ place }) => place).join('\n')).toBeLessThan(PER_THOUSAND)
  expect(per(blind), blind.map(({ place }) => place).join('\n')).toBeLessThan(BLIND_PER_THOUSAND)
})
