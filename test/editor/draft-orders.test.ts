import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CHECK_EVERY_MS } from '@/app/(dashboard)/[tenant]/_draft/core'
import { rounds } from '../support/rounds'
import { moved, openEditor, settled } from './draft-fakes'

const MOVES = [
  ...(['edit', 'move', 'undo', 'redo', 'save', 'other', 'wait'] as const),
  ...(['answer first', 'answer last', 'fail', 'lose'] as const),
]
/** Orders that once lost an undo: the server had the layout, but not this page its answer. */
const LOST_LAYOUTS: [(typeof MOVES)[number][]][] = [
  [['move', 'lose', 'wait', 'lose', 'undo']],
  [['move', 'answer first', 'wait', 'lose', 'undo', 'edit']],
]
const moves = fc.array(fc.constantFrom(...MOVES), { maxLength: 30 })

test('in any order of edits, answers and failures, saves run one at a time and lose no work of either side', async () => {
  await fc.assert(
    fc.asyncProperty(moves, async (order) => {
      const { store, server, clock } = openEditor()
      const stop = store.start()
      let others = 0
      let edits = 0
      const perform: Record<(typeof MOVES)[number], () => unknown> = {
        edit: () => {
          edits++
          store.change('edit', (draft) => ({ ...draft, definition: { ...draft.definition, name: `name ${edits}` } }))
        },
        move: () => store.change('move', moved({ ask: { x: ++edits, y: 0 } })),
        undo: () => store.undo(),
        redo: () => store.redo(),
        save: () => void store.saveNow(),
        other: () => server.saveByOther({ ...server.state.definition, description: `other ${++others}` }),
        wait: () => clock.advance(2_000),
        'answer first': () => server.calls[0]?.answer(),
        'answer last': () => server.calls.at(-1)?.answer(),
        fail: () => server.calls[0]?.fail(),
        // The server did the work, but nobody gets its answer.
        lose: () => {
          server.calls[0]?.commit()
          return server.calls[0]?.fail()
        },
      }
      for (const move of order) {
        await perform[move]()
        await settled()
        expect(server.calls.filter(({ kind }) => kind !== 'load').length).toBeLessThanOrEqual(1)
        if (store.getState().save.kind !== 'conflict') continue
        // Only an undo of another person's change can conflict with their next change.
        expect(others).toBeGreaterThan(0)
        store.resolve(store.getState().history.present.definition)
      }
      const answerAll = async () => {
        while (server.calls.length > 0) await server.calls[0]?.answer()
      }
      await answerAll()
      const saved = store.saveNow()
      await answerAll()
      if (store.getState().save.kind === 'conflict') {
        store.resolve(store.getState().history.present.definition)
        await answerAll()
      } else expect(await saved).toBe(true)
      // The second time saves what the first has found: an undo of a save whose answer was lost.
      for (let round = 0; round < 2; round++) {
        await clock.advance(CHECK_EVERY_MS)
        await answerAll()
      }
      const { history, base } = store.getState()
      expect(server.state.definition).toEqual(history.present.definition)
      expect(server.state.layout).toEqual(history.present.layout)
      expect(base.version).toBe(server.state.version)
      stop()
      expect(clock.waiting()).toBe(0)
    }),
    { numRuns: rounds(50, 600), examples: LOST_LAYOUTS },
  )
})
