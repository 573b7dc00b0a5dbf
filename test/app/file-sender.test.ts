import { expect, test, vi } from 'vitest'
import { MAX_FORM_BYTES } from '@/app/_ui/files/form-limit'
import { FileSender } from '@/app/(dashboard)/[tenant]/workflows/file-sender'

/** Node has none. */
class Reader {
  result = ''
  onload = () => {}
  readAsDataURL(file: File): void {
    void file.text().then((text) => {
      this.result = `data:;base64,${btoa(text)}`
      this.onload()
    })
  }
}
vi.stubGlobal('FileReader', Reader)

const small = () => new File(['hello'], 'a.txt')
const large = () => new File([new Uint8Array(MAX_FORM_BYTES + 1)], 'b.bin')

function sending({ begin = vi.fn() } = {}) {
  const uploads = { limit: 25 * 1024 * 1024, begin, complete: vi.fn(), cancel: vi.fn(async () => {}) }
  const show = vi.fn()
  return { sender: new FileSender(uploads, show), uploads, show }
}

function later<T>() {
  let resolve = (_value: T): void => {}
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

test('an answer is not sent if it is cancelled while its run gets a file, which is not given twice', async () => {
  const { sender } = sending()
  const given = later<string>()
  const give = vi.fn(() => given.promise)
  const file = small()
  const ids = sender.giveFiles({ scan: [file] }, give)
  await vi.waitFor(() => expect(give).toHaveBeenCalledOnce())
  sender.cancel()
  expect(await ids).toBeNull()
  const again = sender.giveFiles({ scan: [file] }, give)
  given.resolve('f1')
  expect(await again).toEqual({ scan: ['f1'] })
  expect(await sender.giveFiles({ scan: [file] }, give)).toEqual({ scan: ['f1'] })
  expect(give).toHaveBeenCalledOnce()
})

test('a form that is left is not sent, and gives nothing further to its run', async () => {
  const { sender } = sending()
  const given = later<string>()
  const give = vi.fn(() => given.promise)
  const ids = sender.giveFiles({ scan: [small(), small()] }, give)
  await vi.waitFor(() => expect(give).toHaveBeenCalledOnce())
  sender.leave()
  given.resolve('f1')
  expect(await ids).toBeNull()
  expect(give).toHaveBeenCalledOnce()
})

test('cancelling does not wait for a service that is silent, and gives up what it begins later', async () => {
  const begun = later<{ id: string; put: null; blob: null }>()
  const { sender, uploads, show } = sending({ begin: vi.fn(() => begun.promise) })
  const call = vi.fn()
  const chosen = [{ name: 'scan', file: large() }]
  const started = sender.sendWith({ scan: { type: 'file' } }, chosen, call)
  await vi.waitFor(() => expect(uploads.begin).toHaveBeenCalledOnce())
  sender.cancel()
  expect(await started).toBeNull()
  expect(show).toHaveBeenLastCalledWith(null)
  begun.resolve({ id: 'u1', put: null, blob: null })
  await vi.waitFor(() => expect(uploads.cancel).toHaveBeenCalledWith('u1'))
  expect(call).not.toHaveBeenCalled()
})

test('an upload waits for a service that checks other files, instead of beginning again', async () => {
  vi.useFakeTimers()
  const { sender, uploads } = sending({ begin: vi.fn(async () => ({ id: 'u1', put: null, blob: null })) })
  const busy = Object.assign(new Error('busy'), { data: { error: { code: 'UNAVAILABLE' } } })
  uploads.complete.mockRejectedValueOnce(busy).mockResolvedValueOnce({})
  const chosen = [{ name: 'scan', file: large() }]
  const started = sender.sendWith({ scan: { type: 'file' } }, chosen, async (parts) => parts.files)
  await vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(5_000)
    expect(uploads.complete).toHaveBeenCalledTimes(2)
  })
  expect(await started).toMatchObject([{ file: { uploaded: 'u1' } }])
  expect(uploads.cancel).not.toHaveBeenCalled()
  vi.useRealTimers()
})
