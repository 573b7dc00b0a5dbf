import { describe, expect, test } from 'vitest'
import {
  ANSWER_WITHIN_MS,
  AUTOSAVE_AFTER_MS,
  CHECK_EVERY_MS,
  RETRY_EVERY_MS,
} from '@/app/(dashboard)/[tenant]/_draft/core'
import { isDirty } from '@/app/(dashboard)/[tenant]/workflows/[id]/draft/draft-state'
import { definition, moved, named, openEditor, settled } from './draft-fakes'

/** An editor whose first check found nothing new. */
async function opened() {
  const editor = openEditor()
  const stop = editor.store.start()
  await editor.server.answer('load')
  return { ...editor, stop }
}

describe('saving', () => {
  test('waits until a person pauses, and saves everything up to then', async () => {
    const { server, clock, rename, store } = await opened()
    rename('a')
    await clock.advance(AUTOSAVE_AFTER_MS - 1)
    rename('ab')
    await clock.advance(AUTOSAVE_AFTER_MS - 1)
    expect(server.calls).toEqual([])
    await clock.advance(1)
    await server.answer('save')
    expect(server.state.definition.name).toBe('ab')
    expect(store.getState().save).toMatchObject({ kind: 'saved', at: clock.now() })
  })

  test('puts an edit made during a save into the next save, on top of the new version', async () => {
    const { server, rename, store } = await opened()
    rename('a')
    const saved = store.saveNow()
    rename('ab')
    await server.answer('save')
    expect(server.calls).toMatchObject([{ kind: 'save', base: 2, definition: { name: 'ab' } }])
    await server.answer('save')
    expect(await saved).toBe(true)
  })

  test('saving the layout keeps the published version reported by the save of the definition', async () => {
    const { server, rename, store } = await opened()
    rename('a')
    store.change('move', moved({ ask: { x: 1, y: 2 } }))
    void store.saveNow()
    server.state.publishedVersion = 7
    await server.answer('save')
    await server.answer('layout')
    expect(store.getState()).toMatchObject({ publishedVersion: 7, save: { kind: 'saved' } })
  })

  test('saving the layout keeps a version published in the meantime', async () => {
    const { server, store } = await opened()
    store.change('move', moved({ ask: { x: 1, y: 2 } }))
    void store.saveNow()
    store.published(1)
    await server.answer('layout')
    expect(store.getState().publishedVersion).toBe(1)
  })

  test('starts one new save after a failed one, however many callers wait', async () => {
    const { server, rename, store } = await opened()
    rename('a')
    const first = store.saveNow()
    const waiting = [store.saveNow(), store.saveNow()]
    await settled()
    expect(server.calls).toHaveLength(1)
    await server.calls[0]?.fail()
    expect(await first).toBe(false)
    expect(server.calls).toHaveLength(1)
    await server.answer('save')
    expect(await Promise.all(waiting)).toEqual([true, true])
    expect(server.calls).toEqual([])
    expect(server.state.version).toBe(2)
  })

  test('resumes by itself when the server can be reached again', async () => {
    const { server, clock, rename, store } = await opened()
    rename('a')
    void store.saveNow()
    await server.calls[0]?.fail()
    expect(store.getState().save.kind).toBe('offline')
    await clock.advance(RETRY_EVERY_MS)
    await server.calls[0]?.fail()
    store.online()
    await server.answer('save')
    expect(store.getState().save.kind).toBe('saved')
  })

  test('has nothing left to report once the edit that failed to save is undone', async () => {
    for (const undoFirst of [true, false]) {
      const { server, rename, store } = await opened()
      rename('a')
      void store.saveNow()
      if (undoFirst) store.undo()
      await server.calls[0]?.fail()
      if (!undoFirst) store.undo()
      expect(store.getState().save.kind).toBe('saved')
    }
  })

  test('is not over while an edit that was undone is still on its way', async () => {
    const { server, rename, store } = await opened()
    rename('a')
    void store.saveNow()
    store.undo()
    const atOnce = settled().then(() => 'not yet')
    const saved = store.saveNow()
    expect(await Promise.race([saved, atOnce])).toBe('not yet')
    await server.answer('save')
    await server.answer('save')
    expect([await saved, server.state.definition.name]).toEqual([true, definition.name])
  })

  test('waits for an edit after the server refused the draft', async () => {
    const { server, clock, rename, store } = await opened()
    rename('')
    void store.saveNow()
    await server.calls[0]?.fail('INVALID_INPUT')
    await clock.advance(RETRY_EVERY_MS * 3)
    store.online()
    expect(server.calls.filter(({ kind }) => kind === 'save')).toEqual([])
    rename('b')
    await clock.advance(AUTOSAVE_AFTER_MS)
    expect(server.calls.filter(({ kind }) => kind === 'save')).toHaveLength(1)
  })

  test('saves an edit that was made while the server refused the one before', async () => {
    const { server, clock, rename, store } = await opened()
    rename('')
    void store.saveNow()
    rename('b')
    await server.calls[0]?.fail('INVALID_INPUT')
    await clock.advance(AUTOSAVE_AFTER_MS)
    await server.answer('save')
    expect(server.state.definition.name).toBe('b')
  })

  test('goes on after a request that is never answered, whether the server did the work or not', async () => {
    for (const done of [true, false]) {
      const { server, clock, rename, store, merged } = await opened()
      rename('a')
      const first = store.saveNow()
      if (done) server.calls[0]?.commit()
      await clock.advance(ANSWER_WITHIN_MS)
      expect(await first).toBe(false)
      expect([store.getState().save.kind, server.calls]).toEqual(['offline', []])
      rename('ab')
      await clock.advance(RETRY_EVERY_MS)
      await server.answer('save')
      // What this page sent itself is no change of others, even in the same field.
      for (const kind of done ? (['load', 'save'] as const) : []) await server.answer(kind)
      expect([server.state.definition.name, store.getState().save.kind]).toEqual(['ab', 'saved'])
      expect([merged, store.getState().history.past.length]).toEqual([[], 2])
    }
  })

  test('includes text that is still being typed', async () => {
    const { server, page, rename, store } = await opened()
    page.typing = () => rename('typed')
    void store.saveNow()
    expect(server.calls).toMatchObject([{ kind: 'save', definition: { name: 'typed' } }])
  })

  test('never touches a read-only draft', async () => {
    const { server, clock, rename, store } = await opened()
    store.setReadOnly(true)
    rename('a')
    expect(await store.saveNow()).toBe(true)
    await clock.advance(AUTOSAVE_AFTER_MS)
    expect([isDirty(store.getState()), server.calls]).toEqual([false, []])
  })

  test('closing the editor saves the remaining changes and leaves no timer behind', async () => {
    const { server, clock, page, rename, stop } = await opened()
    page.typing = () => rename('last')
    stop()
    expect(server.calls).toMatchObject([{ kind: 'save', definition: { name: 'last' } }])
    await server.calls[0]?.fail()
    expect(clock.waiting()).toBe(0)
  })
})

describe('changes of other people', () => {
  const described = { ...definition, description: 'theirs' }

  test('are merged into a draft that has no unsaved changes, and one undo removes them', async () => {
    const { server, clock, store, merged } = await opened()
    server.saveByOther(described)
    await clock.advance(CHECK_EVERY_MS)
    await server.answer('load')
    expect(store.getState()).toMatchObject({ base: { version: 2 }, save: { kind: 'saved' } })
    expect(store.getState().history.present.definition).toEqual(described)
    expect(merged).toHaveLength(1)
    store.undo()
    expect(store.getState().history.present.definition).toBe(definition)
  })

  test('show as published, whether they are new here or not', async () => {
    const { server, clock, store } = await opened()
    server.state.publishedVersion = 1
    await clock.advance(CHECK_EVERY_MS)
    await server.answer('load')
    expect(store.getState()).toMatchObject({ publishedVersion: 1, base: { version: 1, definition } })
    server.saveByOther(described)
    server.state.publishedVersion = 2
    await clock.advance(CHECK_EVERY_MS)
    await server.answer('load')
    expect(store.getState()).toMatchObject({ publishedVersion: 2, base: { version: 2 }, save: { kind: 'saved' } })
  })

  test('do not become the base of the next save while they are in conflict, published or not', async () => {
    const { server, rename, store } = await opened()
    server.saveByOther(named('theirs'))
    server.state.publishedVersion = 2
    rename('mine')
    void store.saveNow()
    await server.answer('save')
    await server.answer('load')
    expect(store.getState()).toMatchObject({ base: { version: 1 }, save: { kind: 'conflict' } })
  })

  test('are not checked for while the page is hidden', async () => {
    const { server, clock, page } = await opened()
    page.visible = false
    await clock.advance(CHECK_EVERY_MS * 2)
    expect(server.calls).toEqual([])
  })

  test('are merged when a save runs into them, and the save continues', async () => {
    const { server, rename, store } = await opened()
    server.saveByOther(described)
    rename('mine')
    const saved = store.saveNow()
    await server.answer('save')
    await server.answer('load')
    await server.answer('save')
    expect(await saved).toBe(true)
    expect(server.state.definition).toEqual({ ...described, name: 'mine' })
  })

  test('are distinguished from this editor’s own last save', async () => {
    const { server, clock, rename, store, merged } = await opened()
    await clock.advance(CHECK_EVERY_MS)
    const [load] = server.calls
    rename('mine')
    void store.saveNow()
    const save = server.calls[1]
    // The server saves first, but its answers arrive in reverse order.
    save?.commit()
    await load?.answer()
    await save?.answer()
    expect(merged).toEqual([])
    expect(store.getState()).toMatchObject({ base: { version: 2 }, save: { kind: 'saved' } })
  })

  test('are distinguished from saves by another screen of this page, even while it closes', async () => {
    const { server, rename, stop } = await opened()
    const loaded = { ...server.state }
    rename('first')
    stop()
    const next = openEditor({ server, loaded })
    next.store.start()
    await settled()
    expect(server.calls).toMatchObject([{ kind: 'save' }])
    await server.answer('save')
    await server.answer('load')
    expect(next.merged).toEqual([])
    expect(next.store.getState()).toMatchObject({ base: { version: 2, definition: { name: 'first' } } })
    expect(next.store.getState().history.past).toEqual([])
    // Its own restored or published content counts as its own; others' saves in between do not.
    server.saveByOther(described)
    next.store.restored({ version: 3, definition: named('restored') })
    next.store.published(4)
    expect([server.own.include(1, 4), server.own.include(1, 5)]).toEqual([true, false])
    const other = openEditor({ server, loaded: { ...server.state, version: 4 } })
    server.saveByOther(named('theirs'))
    server.saveByOther(named('theirs'))
    other.store.start()
    await server.answer('load')
    expect(other.merged).toHaveLength(1)
  })

  test('and own saves are remembered for the screen that opens next', async () => {
    const { server, rename, store } = await opened()
    rename('a')
    store.change('move', moved({ ask: { x: 1, y: 2 } }))
    void store.saveNow()
    await server.answer('save')
    await server.answer('layout')
    store.published(3)
    expect(server.remembered.at(-1)).toEqual({
      version: 3,
      definition: named('a'),
      layout: { ask: { x: 1, y: 2 } },
      publishedVersion: 3,
    })
  })

  test('wait for a person when both sides changed the same thing', async () => {
    const { server, clock, rename, store } = await opened()
    server.saveByOther(named('theirs'))
    rename('mine')
    void store.saveNow()
    await server.answer('save')
    await server.answer('load')
    expect(store.getState().save).toMatchObject({ kind: 'conflict', theirs: { version: 2, by: 'Tom' } })
    rename('mine, still')
    await clock.advance(AUTOSAVE_AFTER_MS + RETRY_EVERY_MS)
    expect(await store.saveNow()).toBe(false)
    expect(server.state.definition.name).toBe('theirs')
    store.resolve(named('mine, still'))
    await server.answer('save')
    expect(server.state).toMatchObject({ version: 3, definition: { name: 'mine, still' } })
  })

  test('of the same person in another tab name nobody', async () => {
    const { server, clock, rename, store, merged } = await opened()
    server.state.updatedBy = null
    server.saveByOther(described)
    await clock.advance(CHECK_EVERY_MS)
    await server.answer('load')
    expect(merged).toEqual([expect.stringMatching(/^What you saved in another tab or browser/)])
    server.saveByOther(named('there'))
    rename('here')
    void store.saveNow()
    await server.answer('save')
    await server.answer('load')
    expect(store.getState().save).toMatchObject({ kind: 'conflict', theirs: { by: null } })
  })

  test('conflict with a field that is being typed into when they arrive', async () => {
    const { server, clock, page, rename, store } = await opened()
    server.saveByOther(named('theirs'))
    await clock.advance(CHECK_EVERY_MS)
    page.typing = () => rename('mine')
    await server.answer('load')
    expect(store.getState().save.kind).toBe('conflict')
  })

  test('are fetched again later when the server cannot be reached', async () => {
    const { server, clock, rename, store } = await opened()
    server.saveByOther(described)
    rename('mine')
    void store.saveNow()
    await server.answer('save')
    await server.calls[0]?.fail()
    expect(store.getState().save.kind).toBe('offline')
    await clock.advance(RETRY_EVERY_MS)
    await server.answer('save')
    await server.answer('load')
    await server.answer('save')
    expect(server.state.definition).toEqual({ ...described, name: 'mine' })
  })
})
