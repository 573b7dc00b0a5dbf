import { describe, expect, test } from 'vitest'
import {
  arrowTarget,
  END,
  endPosition,
  graphEdges,
  waysOf,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/canvas/graph'
import {
  type DraftState,
  initialState,
  isDirty,
  reduceDraft,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/draft-state'
import { inferFields, startCurl } from '@/app/(dashboard)/[tenant]/workflows/[id]/inspector/start-payload'
import { START } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import { findEntries, openedAt } from '@/app/(dashboard)/[tenant]/workflows/[id]/widgets/scope-search'
import type { Definition } from '@/server/workflows/schema'
import { catalog } from './graphs'

const definition: Definition = {
  name: 'Order',
  description: '',
  initialStep: 'ask',
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { a: { type: 'string' } } },
    { id: 'left', type: 'call-tool', toolId: 't' },
    { id: 'right', type: 'call-tool', toolId: 't' },
    { id: 'done', type: 'end-flow' },
    { id: 'lost', type: 'call-tool', toolId: 't' },
  ],
  edges: [
    { from: 'ask', to: 'left' },
    { from: 'ask', to: 'right', case: 'big' },
    { from: 'left', to: 'done' },
  ],
  payload: {},
}

describe('the lines of the graph', () => {
  const edges = graphEdges(definition, catalog)

  test('START leads to the first step, END follows what ends and what nothing follows, and nothing follows what is lost', () => {
    expect(edges.map(({ from, to, kind }) => `${from} ${to} ${kind}`)).toEqual([
      '#start ask edge',
      'ask left edge',
      'ask right edge',
      'left done edge',
      'right #end implicit',
      'done #end end',
    ])
  })

  test('arrows go down, up and to the sides, and stop where nothing is', () => {
    const ways = waysOf(edges)
    const walk = (from: string, ...keys: string[]) =>
      keys.reduce<string | null>((at, key) => (at === null ? null : arrowTarget(ways, at, key)), from)
    expect(walk(START, 'ArrowDown', 'ArrowDown')).toBe('left')
    expect(walk('left', 'ArrowRight')).toBe('right')
    expect(walk('right', 'ArrowRight')).toBeNull()
    expect(walk('right', 'ArrowDown')).toBe(END)
    expect(walk('done', 'ArrowUp', 'ArrowUp', 'ArrowUp')).toBe(START)
    expect(walk(START, 'ArrowUp')).toBeNull()
  })

  test('END stands under everything', () => {
    const layout = {
      [START]: { x: 0, y: 0 },
      right: { x: 400, y: 200 },
      done: { x: 0, y: 300 },
      lost: { x: 0, y: 900 },
    }
    expect(endPosition(edges, layout).y).toBeGreaterThan(900)
  })
})

describe('a draft', () => {
  const base = { version: 3, definition }
  const changed = { definition: { ...definition, name: 'Other' }, layout: {} }
  const start = initialState(base, {}, 2)
  const edit = (state: DraftState) => reduceDraft(state, { type: 'change', draft: changed, label: 'edit', at: 1 })

  test('is dirty until the server has what is on the screen, and undo makes it so again', () => {
    const edited = edit(start)
    expect([isDirty(start), isDirty(edited), edited.save.kind]).toEqual([false, true, 'unsaved'])
    const { layout } = edited.history.present
    const saved = reduceDraft(edited, {
      type: 'saved',
      base: { version: 4, definition: changed.definition },
      layout,
      publishedVersion: 2,
      at: 5,
    })
    expect([isDirty(saved), saved.save]).toEqual([false, { kind: 'saved', at: 5 }])
    expect(isDirty(reduceDraft(saved, { type: 'undo' }))).toBe(true)
  })

  test('a change while a save is under way is not taken for saved', () => {
    const saving = reduceDraft(edit(start), { type: 'saving' })
    const more = reduceDraft(saving, {
      type: 'change',
      draft: { definition: { ...definition, name: 'Third' }, layout: {} },
      label: 'edit',
      at: 2,
    })
    const answered = reduceDraft(more, {
      type: 'saved',
      base: { version: 4, definition: changed.definition },
      layout: changed.layout,
      publishedVersion: 2,
      at: 5,
    })
    expect([isDirty(answered), answered.save.kind]).toEqual([true, 'unsaved'])
  })

  test('a conflict waits for a person, whatever is typed meanwhile', () => {
    const conflict = reduceDraft(start, { type: 'stopped', save: { kind: 'conflict', theirs: { ...base, by: 'Tom' } } })
    expect(edit(conflict).save.kind).toBe('conflict')
  })

  test('what was merged can be taken out by one undo', () => {
    const theirs = { version: 4, definition: { ...definition, description: 'theirs' } }
    const merged = { ...definition, name: 'Other', description: 'theirs' }
    const state = reduceDraft(edit(start), { type: 'merged', base: theirs, definition: merged, label: 'merge', at: 9 })
    expect(state.base.version).toBe(4)
    expect(reduceDraft(state, { type: 'undo' }).history.present.definition).toEqual(changed.definition)
  })
})

describe('the picker of values', () => {
  test('opens inside ${ and nowhere else', () => {
    const at = (text: string) => openedAt(text, text.length)
    expect([at('Hi ${or'), at('${'), at('Hi ${a.b[0]')]).toEqual([3, 0, 3])
    expect([at('Hi'), at('${a}'), at('$${a'), at('${a b')]).toEqual([null, null, null, null])
  })

  test('finds beginnings first, then parts, then letters in their order', () => {
    const entries = ['customer.order', 'o_r_d', 'order', 'amount'].map((name) => ({ name }))
    expect(findEntries(entries, 'ord').map(({ name }) => name)).toEqual(['order', 'customer.order', 'o_r_d'])
  })
})

describe('START', () => {
  test('fields come from a sample, those with impossible names not', () => {
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

  test('the command survives quotes in defaults', () => {
    const text = startCurl('http://localhost', 'ten_1', 'wf_1', {
      who: { type: 'string', default: "O'Neil; rm -rf /" },
    })
    expect(text).toContain(`-d '{"data":{"who":"O'\\''Neil; rm -rf /"}}'`)
  })

  test('with a file the command is multipart', () => {
    const text = startCurl('http://localhost', 'ten_1', 'wf_1', { doc: { type: 'file' }, n: { type: 'integer' } })
    expect(text).toContain("-F 'n=1'")
    expect(text).toContain('attachment=@')
    expect(text).not.toContain('application/json')
  })
})
