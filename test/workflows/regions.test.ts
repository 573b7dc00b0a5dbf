import { describe, expect, test } from 'vitest'
import type { Definition } from '@/server/definition/schema'
import { checkGraph } from '@/server/workflows/check/graph'
import { scopeOf } from '@/server/workflows/check/scope'

const set = (id: string, values: object = { [id]: 1 }) => ({ id, type: 'set-data', values })
const fork = (id: string, more: object = {}) => ({
  id,
  type: 'parallel',
  branches: [{ id: 'a' }, { id: 'b' }],
  ...more,
})
const on = (from: string, exit: string, to: string) => ({ from, to, on: exit })
const next = (from: string, to: string) => ({ from, to })
const end = { id: 'end', type: 'end-flow' }

function problems(steps: object[], edges: object[], more: object = {}) {
  const [first] = steps as { id: string }[]
  const definition = { name: 'n', description: '', initialStep: first?.id ?? null, payload: {}, steps, edges, ...more }
  return checkGraph(definition as unknown as Definition)
}
const codes = (...args: Parameters<typeof problems>) => problems(...args).map(({ code, stepId }) => `${code} ${stepId}`)
const edges = [on('f', 'a', 'x'), on('f', 'b', 'y'), on('f', 'done', 'end')]

describe('branches', () => {
  test('that end in themselves are fine', () => {
    expect(codes([fork('f'), set('x'), set('y'), end], edges)).toEqual([])
  })

  test('cannot be entered from elsewhere, lead back, or share a step', () => {
    const steps = [set('before'), fork('f'), set('x'), set('y'), end]
    expect(codes(steps, [...edges, next('before', 'x')])).toContain('W_UNREACHABLE f')
    const lead = [next('before', 'f'), ...edges]
    expect(codes(steps, [...lead, on('before', 'error', 'x')])).toEqual(['REGION_ENTERED x'])
    expect(codes(steps, [...lead, next('x', 'f')])).toContain('REGION_ENTERED f')
    expect(codes(steps, [...lead, next('x', 'y')])).toContain('REGION_ENTERED y')
    expect(codes(steps, lead, { initialStep: 'x' })).toContain('REGION_ENTERED x')
  })

  test('may lie in each other four deep', () => {
    const deep = (levels: number) => {
      const ids = Array.from({ length: levels }, (_, at) => `f${at}`)
      const way = ids.slice(1).map((id, at) => on(`f${at}`, 'a', id))
      return codes([...ids.map((id) => fork(id)), set('x')], [...way, on(`f${levels - 1}`, 'a', 'x')])
    }
    expect(deep(4).filter((code) => code.startsWith('NESTED'))).toEqual([])
    expect(deep(5)).toContain('NESTED_TOO_DEEP f4')
  })

  test('that write the same field are refused; in one branch, or in a for-each, a field may be written twice', () => {
    expect(codes([fork('f'), set('x', { v: 1 }), set('y', { v: 2 }), end], edges)).toEqual(['BRANCH_CONFLICT y'])
    expect(
      codes([fork('f'), set('x', { v: 1 }), set('y'), set('z', { v: 2 }), end], [...edges, next('x', 'z')]),
    ).toEqual([])
    const each = { id: 'f', type: 'for-each', items: [1] }
    const lead = [next('x', 'f'), on('f', 'each', 'y'), on('f', 'done', 'end')]
    expect(codes([set('x', { v: 1 }), each, set('y', { v: 2 }), end], lead)).toEqual([])
  })

  test('may each go through a list and write the same in there, and what that collects is known after them', () => {
    const each = (id: string) => ({ id, type: 'for-each', items: [1], result: '${v}' })
    const steps = [fork('f'), each('x'), set('xv', { v: 1 }), each('y'), set('yv', { v: 2 })]
    const lead = [...edges, on('x', 'each', 'xv'), on('y', 'each', 'yv')]
    const used = { id: 'end', type: 'end-flow', output: { v: '${x.results} ${y.results}' } }
    expect(codes([...steps, used], lead)).toEqual([])
    expect(codes([...steps, { ...used, output: { v: '${v}' } }], lead)).toEqual(['EXPRESSION_UNRESOLVED end'])
  })

  test('say where a result of any shape needs a name of its own', () => {
    const tool = (more: object) => ({ id: 'x', type: 'call-tool', toolId: 't', ...more })
    expect(codes([fork('f'), tool({}), set('y'), end], edges)).toContain('W_BRANCH_OPEN x')
    expect(codes([fork('f'), tool({ saveAs: 'x' }), set('y'), end], edges)).not.toContain('W_BRANCH_OPEN x')
  })

  test('may have no edge, with a warning, and cannot be part of a cleanup', () => {
    expect(codes([fork('f'), set('x'), end], [on('f', 'a', 'x'), on('f', 'done', 'end')])).toEqual(['W_EMPTY_BRANCH f'])
    expect(codes([end, fork('f'), set('x'), set('y')], edges.slice(0, 2), { onCancel: 'f' })).toContain(
      'FORK_IN_CLEANUP f',
    )
  })
})

describe('the known types', () => {
  const use = (id: string, name: string) => ({ id, type: 'end-flow', output: { v: `\${${name}}` } })
  const knownAfter = (name: string, more: object = {}) =>
    codes([fork('f', more), set('x'), set('y'), use('end', name)], edges)

  test('after all branches is what each of them writes; after some of them only maybe', () => {
    expect(knownAfter('x')).toEqual([])
    expect(knownAfter('x', { wait: 'any' })).toEqual(['W_REF_MAYBE end'])
    expect(knownAfter('item')).toEqual(['EXPRESSION_UNRESOLVED end'])
  })

  test('after a branch that forks itself is what that writes only on every one of its paths', () => {
    const steps = [fork('f'), { id: 'if', type: 'condition', when: 'true' }, set('x'), set('y'), use('end', 'x')]
    const lead = [on('f', 'a', 'if'), on('if', 'true', 'x'), on('f', 'b', 'y'), on('f', 'done', 'end')]
    expect(codes(steps, lead)).toEqual(['W_REF_MAYBE end'])
  })

  test('in one branch is nothing of the others, and outside nothing that is only a step’s output', () => {
    const steps = [fork('f'), set('x'), use('y', 'x'), end]
    expect(codes(steps, edges)).toContain('EXPRESSION_UNRESOLVED y')
    const condition = { id: 'x', type: 'condition', when: 'true' }
    const lead = [...edges, on('x', 'true', 'z')]
    expect(codes([fork('f'), condition, set('z'), set('y'), use('end', 'x.value')], lead)).toEqual([
      'EXPRESSION_UNRESOLVED end',
    ])
  })

  test('in a for-each is the item and its number; after it, what it collects', () => {
    const each = { id: 'f', type: 'for-each', items: '${list}', result: '${x}', saveAs: 'all' }
    const steps = [each, set('x', { x: '${item}${index}' }), use('end', 'all.results')]
    const more = { payload: { list: { type: 'array' } } }
    const lead = [on('f', 'each', 'x'), on('f', 'done', 'end')]
    expect(codes(steps, lead, more)).toEqual([])
    expect(codes([each, steps[1] ?? {}, use('end', 'x')], lead, more)).toEqual(['EXPRESSION_UNRESOLVED end'])
    const collect = (result: string) => codes([{ ...each, result }, steps[1] ?? {}, end], lead, more)
    expect(collect('${nothing}')).toEqual(['EXPRESSION_UNRESOLVED f'])
    expect(collect('${item} ${index} ${x}')).toEqual([])
    expect(collect('${all.count}')).toEqual(['EXPRESSION_UNRESOLVED f'])
    const definition = { name: 'n', description: '', initialStep: 'f', ...more, steps, edges: lead }
    const names = scopeOf(definition as unknown as Definition, 'x').entries.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['item', 'index', 'list']))
  })
})
