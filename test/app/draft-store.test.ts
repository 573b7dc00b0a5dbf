import { describe, expect, test } from 'vitest'
import { AUTOSAVE_AFTER_MS, KEEP_AFTER_MS, RETRY_EVERY_MS } from '@/app/(dashboard)/[tenant]/_draft/core'
import type { Opened } from '@/app/(dashboard)/[tenant]/_versioned/draft-state'
import { createDraftStore } from '@/app/(dashboard)/[tenant]/_versioned/draft-store'
import { fakeClock, fakeDevice, settled } from '../editor/draft-fakes'

interface Form {
  name: string
  text: string
  config: { url: string; retries: number }
}
const FORM: Form = { name: 'A', text: '', config: { url: 'x', retries: 1 } }

/** A workspace's server with one tool: it simulates the verbs' promises. */
function fakeServer() {
  const versions: Form[] = [FORM]
  let draft: Opened<Form>['draft'] = {
    revision: 0,
    baseVersion: 1,
    content: null,
    at: null,
    byName: null,
    byYou: false,
    problems: [],
  }
  let line: 'up' | 'down' | 'loses answers' = 'up'
  const fail = (code: string) => Promise.reject({ code, message: code, details: [] })
  const latest = () => versions.at(-1) as Form
  const open = (): Opened<Form> => ({
    version: versions.length,
    content: latest(),
    draft: draft.content ? draft : { ...draft, baseVersion: versions.length },
  })
  return {
    saves: 0,
    draft: () => draft,
    line: (now: typeof line) => {
      line = now
    },
    /** Saved through the API. */
    put: (form: Form) => versions.push(form),
    open,
    server: (by: string) => ({
      open: async () => (line === 'up' ? open() : fail('UNREACHABLE')),
      readVersion: async (version: number) => versions[version - 1] as Form,
      failureOf: (error: unknown) => error as { code: string; message: string; details: [] },
      async save(body: { content: Form | null; revision: number; baseVersion: number }) {
        if (line === 'down') return fail('UNREACHABLE')
        if (body.revision !== draft.revision) return fail('VERSION_CONFLICT')
        draft = { ...body, revision: draft.revision + 1, at: 'now', byName: by, byYou: false, problems: [] }
        return line === 'up' ? draft : fail('UNREACHABLE')
      },
    }),
  }
}
type FakeServer = ReturnType<typeof fakeServer>

async function openPage(on: FakeServer, { device = fakeDevice(), by = 'Ada', readOnly = false } = {}) {
  const clock = fakeClock()
  const told: string[] = []
  const store = createDraftStore<Form>({
    opened: on.open(),
    server: on.server(by),
    copies: device.copies<Form>('ten_1:tool_1', 'name'),
    clock,
    readOnly,
    onMerged: (who) => told.push(`merged ${who}`),
    onRecovered: () => told.push('recovered'),
  })
  const page = { store, clock, device, told, stop: store.start() }
  await settled()
  return page
}
type Page = Awaited<ReturnType<typeof openPage>>
const kind = ({ store }: Page) => store.getState().save.kind

describe('saving', () => {
  test('waits until a person pauses, then the server has everything and this browser keeps nothing', async () => {
    const on = fakeServer()
    const page = await openPage(on)
    page.store.change({ name: 'Ab' })
    await page.clock.advance(AUTOSAVE_AFTER_MS - 1)
    expect([kind(page), on.draft().revision, page.device.size()]).toEqual(['unsaved', 0, 1])
    page.store.change({ name: 'Abc' })
    await page.clock.advance(AUTOSAVE_AFTER_MS)
    expect([kind(page), on.draft().content?.name, on.draft().revision]).toEqual(['saved', 'Abc', 1])
    expect(page.device.size()).toBe(0)
  })

  test('going back to the version leaves no draft', async () => {
    const on = fakeServer()
    const page = await openPage(on)
    page.store.change({ name: 'B' })
    await page.store.saveNow()
    page.store.discard()
    await page.store.saveNow()
    expect(on.draft()).toMatchObject({ content: null, revision: 2 })
    expect(page.store.getState().value).toEqual(FORM)
  })

  test('is tried again until the network is back', async () => {
    const on = fakeServer()
    const page = await openPage(on)
    on.line('down')
    page.store.change({ name: 'B' })
    expect(await page.store.saveNow()).toBe(false)
    expect(kind(page)).toBe('offline')
    on.line('up')
    await page.clock.advance(RETRY_EVERY_MS)
    expect([kind(page), on.draft().content?.name]).toEqual(['saved', 'B'])
  })

  test('a save whose answer is lost does not count as another person’s change', async () => {
    const on = fakeServer()
    const page = await openPage(on)
    on.line('loses answers')
    page.store.change({ name: 'B' })
    await page.store.saveNow()
    page.store.change({ name: 'Bc' })
    on.line('up')
    expect(await page.store.saveNow()).toBe(true)
    expect([kind(page), on.draft().content?.name]).toEqual(['saved', 'Bc'])
  })
})

describe('two people', () => {
  test('who change different fields both keep their changes', async () => {
    const on = fakeServer()
    const [ada, tess] = [await openPage(on), await openPage(on, { by: 'Tess' })]
    ada.store.change({ name: 'B', config: { ...FORM.config, retries: 2 } })
    await ada.store.saveNow()
    tess.store.change({ text: 'hello', config: { ...FORM.config, url: 'y' } })
    expect(await tess.store.saveNow()).toBe(true)
    expect(on.draft().content).toEqual({ name: 'B', text: 'hello', config: { url: 'y', retries: 2 } })
    expect(tess.told).toEqual(['merged Ada'])
    await ada.store.adopt(on.open())
    expect(ada.store.getState()).toMatchObject({ value: on.draft().content, save: { kind: 'saved' } })
  })

  test('who change the same field are asked, and nothing is overwritten until one has chosen', async () => {
    for (const side of ['mine', 'theirs'] as const) {
      const on = fakeServer()
      const [ada, tess] = [await openPage(on), await openPage(on, { by: 'Tess' })]
      ada.store.change({ name: 'B' })
      await ada.store.saveNow()
      tess.store.change({ name: 'C', text: 'kept' })
      expect(await tess.store.saveNow()).toBe(false)
      expect(tess.store.getState()).toMatchObject({
        value: { name: 'C' },
        save: { kind: 'conflict', by: 'Ada', fields: [{ path: 'name', theirs: 'B' }] },
      })
      await tess.clock.advance(60_000)
      expect(on.draft().content?.name).toBe('B')
      tess.store.choose(side)
      await settled()
      expect(on.draft().content).toMatchObject({ name: side === 'mine' ? 'C' : 'B', text: 'kept' })
      expect(kind(tess)).toBe('saved')
    }
  })

  test('a version that the API saved is merged into the draft, which then contains it', async () => {
    const on = fakeServer()
    const page = await openPage(on)
    page.store.change({ name: 'B' })
    await page.store.saveNow()
    on.put({ ...FORM, text: 'by the API' })
    await page.store.adopt(on.open())
    await page.clock.advance(AUTOSAVE_AFTER_MS)
    expect(on.draft()).toMatchObject({ baseVersion: 2, content: { name: 'B', text: 'by the API' } })
    on.put({ ...FORM, name: 'By the API' })
    await page.store.adopt(on.open())
    expect(page.store.getState().save).toMatchObject({ kind: 'conflict', by: null })
  })

  test('a page without changes follows, and one that may not change anything never saves', async () => {
    const on = fakeServer()
    const [ada, viewer] = [await openPage(on), await openPage(on, { readOnly: true })]
    ada.store.change({ name: 'B' })
    await ada.store.saveNow()
    await viewer.store.adopt(on.open())
    viewer.store.change({ name: 'No' })
    expect(viewer.store.getState()).toMatchObject({ value: { name: 'B' }, save: { kind: 'saved' } })
    expect(on.draft().revision).toBe(1)
  })
})

describe('a page that closes', () => {
  test('loses no typed text, not even text typed during a save', async () => {
    const on = fakeServer()
    const device = fakeDevice()
    const page = await openPage(on, { device })
    on.line('loses answers')
    page.store.change({ name: 'B' })
    await page.store.saveNow()
    page.store.change({ name: 'Bc' })
    page.store.leaving()
    on.line('up')
    const next = await openPage(on, { device })
    expect(next.store.getState().value.name).toBe('Bc')
    expect(next.told).toEqual(['recovered'])
    await next.clock.advance(AUTOSAVE_AFTER_MS)
    expect([on.draft().content?.name, device.size()]).toEqual(['Bc', 0])
  })

  test('and whose field another person changed since asks when it is opened again', async () => {
    const on = fakeServer()
    const device = fakeDevice()
    const page = await openPage(on, { device })
    on.line('down')
    page.store.change({ name: 'B' })
    await page.clock.advance(KEEP_AFTER_MS)
    on.line('up')
    const tess = await openPage(on, { by: 'Tess' })
    tess.store.change({ name: 'C' })
    await tess.store.saveNow()
    const next = await openPage(on, { device })
    expect(next.store.getState()).toMatchObject({ value: { name: 'B' }, save: { kind: 'conflict', by: 'Tess' } })
    expect(device.size()).toBeGreaterThan(0)
  })
})
