import { describe, expect, test } from 'vitest'
import { createDraftCopies, MAX_SYNC_COPY, newest } from '@/app/(dashboard)/[tenant]/_draft/copies'
import { AUTOSAVE_AFTER_MS, KEEP_AFTER_MS } from '@/app/(dashboard)/[tenant]/_draft/core'
import { definition, fakeDevice, fakeServer, moved, named, openEditor, settled } from './draft-fakes'

/** Ends the page, so that none of its pending work happens, and opens another one on the same device. */
async function reopened({ server, device }: ReturnType<typeof openEditor>) {
  device.endPages()
  const next = openEditor({ server: fakeServer(server.state), device })
  next.store.start()
  const unsaved = next.store.findUnsaved()
  await settled()
  for (const call of next.server.calls.splice(0)) await call.answer()
  return { ...next, unsaved: await unsaved }
}

async function opened() {
  const editor = openEditor()
  const stop = editor.store.start()
  await editor.server.answer('load')
  return { ...editor, stop }
}

describe('unsaved changes of a page that closes', () => {
  test('are offered when the workflow opens again, including unfinished typing', async () => {
    const editor = await opened()
    editor.rename('written')
    await editor.clock.advance(KEEP_AFTER_MS)
    editor.page.typing = () => editor.rename('written to the last letter')
    editor.store.leaving()
    const { unsaved, store, server } = await reopened(editor)
    expect(unsaved?.value.definition.name).toBe('written to the last letter')
    if (unsaved) store.restoreUnsaved(unsaved)
    await server.answer('save')
    await server.answer('layout')
    expect(server.state.definition.name).toBe('written to the last letter')
    expect([editor.device.rows.size, editor.device.entries.size]).toEqual([0, 0])
  })

  test('are offered again after every reload until a person answers', async () => {
    const editor = await opened()
    editor.rename('mine')
    editor.store.leaving()
    const second = await reopened(editor)
    const third = await reopened(second)
    expect(third.unsaved?.value.definition.name).toBe('mine')
    if (third.unsaved) third.store.discardUnsaved(third.unsaved)
    await settled()
    expect((await reopened(third)).unsaved).toBeNull()
  })

  test('are kept while a person edits, for a page that crashes', async () => {
    const editor = await opened()
    editor.rename('mine')
    await editor.clock.advance(KEEP_AFTER_MS)
    expect((await reopened(editor)).unsaved?.value.definition.name).toBe('mine')
  })

  test('are not written again when the database already has them', async () => {
    const editor = await opened()
    editor.rename('mine')
    await editor.clock.advance(KEEP_AFTER_MS)
    editor.store.leaving()
    expect(editor.device.entries.size).toBe(0)
  })

  test('go to the database when they are too large for the storage or it is full', async () => {
    for (const full of [true, false]) {
      const editor = await opened()
      editor.device.full = full
      editor.rename(full ? 'mine' : 'm'.repeat(MAX_SYNC_COPY))
      editor.store.leaving()
      await settled()
      expect(editor.device.entries.size).toBe(0)
      expect(editor.device.rows.size).toBe(1)
    }
  })
})

describe('nothing is offered after', () => {
  test('an edit that was undone', async () => {
    const editor = await opened()
    editor.rename('pasted')
    editor.store.change('move', moved({ ask: { x: 1, y: 1 } }))
    await editor.clock.advance(KEEP_AFTER_MS)
    editor.store.undo()
    editor.store.undo()
    await editor.clock.advance(AUTOSAVE_AFTER_MS)
    expect(editor.store.getState().save.kind).toBe('saved')
    expect((await reopened(editor)).unsaved).toBeNull()
  })

  test('an edit that was undone while the database was slow', async () => {
    const editor = await opened()
    editor.device.holding = true
    editor.rename('pasted')
    await editor.clock.advance(KEEP_AFTER_MS)
    editor.store.undo()
    await editor.device.release()
    expect((await reopened(editor)).unsaved).toBeNull()
  })

  test('a save whose answer the page did not live to see, even if the next page opens with an older version', async () => {
    const editor = await opened()
    editor.rename('mine')
    editor.store.leaving()
    void editor.store.saveNow()
    // The server saves, but the page closes before the answer.
    const stale = { ...editor.server.state }
    editor.server.calls[0]?.commit()
    editor.device.endPages()
    const next = openEditor({ server: fakeServer(editor.server.state), device: editor.device, loaded: stale })
    next.store.start()
    const unsaved = next.store.findUnsaved()
    await settled()
    await next.server.answer('load')
    expect(await unsaved).toBeNull()
    expect(editor.device.rows.size + editor.device.entries.size).toBe(0)
  })

  test('a save', async () => {
    const editor = await opened()
    editor.rename('mine')
    editor.store.leaving()
    void editor.store.saveNow()
    await editor.server.answer('save')
    expect((await reopened(editor)).unsaved).toBeNull()
  })

  test('a conflict that was resolved with the other side’s version', async () => {
    const editor = await opened()
    editor.server.saveByOther(named('theirs'))
    editor.rename('mine')
    await editor.clock.advance(AUTOSAVE_AFTER_MS)
    await editor.server.answer('save')
    await editor.server.answer('load')
    editor.store.takeTheirs()
    await settled()
    expect((await reopened(editor)).unsaved).toBeNull()
  })
})

describe('the copies on a device', () => {
  const copy = (name: string, at: number) => ({
    base: { version: 1, definition, layout: {} },
    sent: [],
    value: { version: 1, definition: named(name), layout: {} },
    at: new Date(at).toISOString(),
  })
  const nameOf = (found: { value: { definition: { name: string } } } | null) => found?.value.definition.name

  test('the newest of several is found, and stays until it is forgotten', async () => {
    expect(newest([copy('a', 2), copy('b', 5), copy('c', 3)])?.value.definition.name).toBe('b')
    expect(newest([])).toBeNull()
    const device = fakeDevice()
    await device.copies().keep(copy('later', 9))
    device.copies().keepNow(copy('earlier', 8))
    const page = device.copies()
    const found = await page.find()
    expect([nameOf(found), nameOf(await page.find())]).toEqual(['later', 'later'])
    if (found) await page.forget(found)
    expect(nameOf(await page.find())).toBe('earlier')
  })

  test('of two pages never overwrite each other, and neither forgets the other’s', async () => {
    const device = fakeDevice()
    const [one, other] = [device.copies(), device.copies()]
    await one.keep(copy('one', 1))
    await other.keep(copy('other', 2))
    expect([nameOf(await one.find()), nameOf(await other.find())]).toEqual(['other', 'one'])
    await one.forget()
    expect([nameOf(await one.find()), await other.find()]).toEqual(['other', null])
  })

  test('move out of the small storage when any draft opens', async () => {
    const device = fakeDevice()
    device.copies('ten_1:wf_1').keepNow(copy('one', 1))
    device.copies('ten_1:wf_2').keepNow(copy('two', 2))
    expect(await device.copies('ten_1:wf_3').find()).toBeNull()
    expect([device.entries.size, device.rows.size]).toEqual([0, 2])
    expect(nameOf(await device.copies('ten_1:wf_1').find())).toBe('one')
  })

  test('do not stop a page without storage, or one that finds a damaged copy', async () => {
    const device = fakeDevice()
    const none = createDraftCopies({
      draft: 'ten_1:wf_1',
      page: 'page',
      isWhole: () => true,
      storage: () => null,
      database: { list: async () => [], put: async () => false, remove: async () => {} },
    })
    expect([none.keepNow(copy('a', 1)), await none.find()]).toEqual([false, null])
    device.entries.set('millrace-draft:ten_1:wf_1:torn', '{"torn')
    device.entries.set('millrace-draft:ten_1:wf_1:half', JSON.stringify({ ...copy('a', 1), value: {} }))
    expect(await device.copies().find()).toBeNull()
  })
})
