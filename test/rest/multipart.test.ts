import { describe, expect, test } from 'vitest'
import { AppError } from '@/server/errors'
import { MAX_FILE_BYTES, type MultipartInput } from '@/server/http/multipart-input'
import { isMultipart, readMultipart } from '@/server/rest/multipart'
import { attachment, BOUNDARY, chunked, formRequest, rawForm, text } from '../files/form'
import { quickest } from '../support/patience'

const read = (body: Uint8Array) => readMultipart(formRequest(body))

async function refusal(
  work: Promise<unknown>,
): Promise<{ code: string; status: number; path?: string; message?: string }> {
  const err = await work.then(
    () => expect.unreachable('accepted'),
    (caught: unknown) => caught,
  )
  if (!(err instanceof AppError)) throw err
  return { code: err.code, status: err.status, ...err.details[0] }
}

describe('forms that clients send', () => {
  test('a form made by the platform’s FormData arrives as it was sent', async () => {
    const form = new FormData()
    const bytes = crypto.getRandomValues(new Uint8Array(60_000))
    form.append('title', 'Ünïcode "quoted"\nline')
    form.append('attachment', new File([bytes], 'na"ïve\n名.bin', { type: 'application/x-thing' }))
    form.append('empty', '')
    const input = await readMultipart(new Request('http://test.invalid/', { method: 'POST', body: form }))
    // The platform sends line breaks in texts as CRLF.
    expect([...input.texts]).toEqual([
      ['title', ['Ünïcode "quoted"\r\nline']],
      ['empty', ['']],
    ])
    expect(input.file?.name).toBe('na"ïve\n名.bin')
    expect(input.file?.type).toBe('application/x-thing')
    expect(Buffer.from(input.file?.bytes ?? []).equals(Buffer.from(bytes))).toBe(true)
  })

  test('random forms are parsed as the platform itself parses them', async () => {
    for (let round = 0; round < 150; round++) {
      const form = new FormData()
      const count = Math.floor(Math.random() * 6)
      for (let i = 0; i < count; i++) form.append(`f${i}`, Buffer.from(randomBytes(40)).toString('latin1'))
      const content = Buffer.concat([randomBytes(30), Buffer.from('\r\n--x\r\n\r\n'), randomBytes(30)])
      form.append('attachment', new File([content], 'f.bin', { type: 'application/octet-stream' }))
      const request = new Request('http://test.invalid/', { method: 'POST', body: form })
      const expected = await request.clone().formData()
      const input = await readMultipart(request)
      expect(input.texts.size).toBe(count)
      for (const [name, values] of input.texts) expect(values).toEqual(expected.getAll(name))
      const file = expected.get('attachment') as File
      expect(Buffer.from(input.file?.bytes ?? []).equals(Buffer.from(await file.arrayBuffer()))).toBe(true)
    }
  })

  test('a part named attachment is the file even without a file name', async () => {
    const { file } = await read(rawForm([text('attachment', 'hello')]))
    expect(file).toMatchObject({ name: 'attachment', bytes: Buffer.from('hello') })
  })

  test('an empty file is a file, but a file input with nothing selected is not', async () => {
    expect((await read(rawForm([attachment('', 'empty.txt')]))).file).toMatchObject({ name: 'empty.txt' })
    expect((await read(rawForm([attachment('', '')]))).file).toBeNull()
    const other = { disposition: 'form-data; name="photo"; filename=""', content: '' }
    expect((await read(rawForm([other, text('a', 'b')]))).texts.get('a')).toEqual(['b'])
  })

  test('preamble, epilogue, quoted boundary and a lone blank line are understood', async () => {
    const body = Buffer.concat([Buffer.from('preamble\r\n'), rawForm([text('a', '1')]), Buffer.from('epilogue')])
    expect((await read(body)).texts.get('a')).toEqual(['1'])
    const quoted = rawForm([text('a', '2')], "a b'(c)")
    const request = formRequest(quoted, { headers: { 'content-type': `Multipart/Form-Data; BOUNDARY="a b'(c)"` } })
    expect(isMultipart(request)).toBe(true)
    expect((await readMultipart(request)).texts.get('a')).toEqual(['2'])
    const bare = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\n--${BOUNDARY}--`
    expect((await read(Buffer.from(bare))).texts.get('a')).toEqual([''])
  })

  test.each([
    ['../../etc/passwd', '../../etc/passwd'],
    ['C:\\dir\\x.txt', 'C:\\dir\\x.txt'],
    ['line%0D%0Abreak%22', 'line\r\nbreak"'],
    ['escaped \\" quote', 'escaped " quote'],
    ['100%25', '100%25'],
  ])('a file named %j is data', async (sent, name) => {
    expect((await read(rawForm([attachment('x', sent)]))).file?.name).toBe(name)
  })

  test('filename* in UTF-8 takes precedence over filename', async () => {
    const disposition = `form-data; name="attachment"; filename="x"; filename*=UTF-8''na%C3%AFve%00.txt`
    expect((await read(rawForm([{ disposition, content: 'x' }]))).file?.name).toBe('naïve\u0000.txt')
  })

  test('names from the object prototype are ordinary names', async () => {
    const { texts } = await read(rawForm([text('__proto__', '{"polluted":1}'), text('constructor', 'x')]))
    expect([...texts.keys()]).toEqual(['__proto__', 'constructor'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('the size limit of the file', () => {
  test('3,932,160 bytes are accepted, one more is rejected', async () => {
    expect(MAX_FILE_BYTES).toBe(3_932_160)
    const { file } = await read(rawForm([attachment(new Uint8Array(MAX_FILE_BYTES))]))
    expect(file?.bytes.byteLength).toBe(MAX_FILE_BYTES)
    const over = read(rawForm([attachment(new Uint8Array(MAX_FILE_BYTES + 1))]))
    expect(await refusal(over)).toMatchObject({ code: 'FILE_TOO_LARGE', status: 413, path: 'attachment' })
  })

  test('a declared length far over the limit is rejected before anything is read', async () => {
    const { body, sent } = chunked(new Uint8Array(20_000_000))
    const request = formRequest(body, { headers: { 'content-length': '20000000' } })
    expect(await refusal(readMultipart(request))).toMatchObject({ code: 'FILE_TOO_LARGE' })
    expect(sent()).toBe(0)
  })

  test.each([{}, { 'content-length': '100' }])('without an honest length, reading stops (%j)', async (headers) => {
    const { body, sent } = chunked(rawForm([attachment(new Uint8Array(50_000_000))]))
    expect(await refusal(readMultipart(formRequest(body, { headers })))).toMatchObject({ code: 'FILE_TOO_LARGE' })
    expect(sent()).toBeLessThan(6_000_000)
  })

  test('a chunked form at the limit is accepted', async () => {
    const { body } = chunked(rawForm([attachment(new Uint8Array(MAX_FILE_BYTES))]), 10_007)
    expect((await readMultipart(formRequest(body))).file?.bytes.byteLength).toBe(MAX_FILE_BYTES)
  })

  test('texts have a separate limit', async () => {
    const half = 'x'.repeat(600_000)
    expect(await refusal(read(rawForm([text('a', half), text('b', half)])))).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    })
  })
})

describe('files under other names', () => {
  const named = (name: string, content: string | Uint8Array, filename = 'x.txt') => ({
    disposition: `form-data; name="${name}"; filename="${filename}"`,
    content,
  })

  test('keep the names of their parts, in order', async () => {
    const sent = await read(rawForm([named('b', '1'), attachment('2'), named('a', '3'), named('b', '4', '')]))
    expect(sent.file).toMatchObject({ name: 'a.txt', bytes: Buffer.from('2') })
    expect(sent.files.map(({ part, upload }) => [part, upload.name, String(upload.bytes)])).toEqual([
      ['attachment', 'a.txt', '2'],
      ['b', 'x.txt', '1'],
      ['a', 'x.txt', '3'],
      ['b', 'b', '4'],
    ])
  })

  test('have the size of one file together', async () => {
    const half = new Uint8Array(MAX_FILE_BYTES / 2)
    expect((await read(rawForm([named('a', half), named('b', half)]))).files).toHaveLength(2)
    const over = read(rawForm([named('a', half), attachment(half), named('b', 'x')]))
    expect(await refusal(over)).toMatchObject({ code: 'FILE_TOO_LARGE', status: 413 })
  })
})

describe('rejected forms', () => {
  const bad = (parts: Parameters<typeof rawForm>[0]) => read(rawForm(parts))

  test.each<[string, () => Promise<MultipartInput>, object]>([
    [
      'too many files',
      () =>
        bad(Array.from({ length: 21 }, () => ({ disposition: 'form-data; name="photo"; filename="x"', content: 'x' }))),
      { path: 'photo' },
    ],
    ['two attachments', () => bad([attachment('a'), attachment('b')]), { path: 'attachment' }],
    ['no body', () => read(Buffer.alloc(0)), {}],
    ['garbage', () => read(crypto.getRandomValues(new Uint8Array(5000))), {}],
    ['another boundary', () => read(rawForm([text('a', 'b')], 'other')), {}],
    ['a truncated form', () => read(rawForm([attachment('hello')]).subarray(0, -20)), {}],
    ['a form without its end', () => read(rawForm([text('a', 'b')]).subarray(0, -4)), {}],
    ['text behind a boundary', () => read(Buffer.from(`--${BOUNDARY}oops\r\n\r\n`)), {}],
    ['a part without headers', () => read(Buffer.from(`--${BOUNDARY}\r\n\r\nx\r\n--${BOUNDARY}--`)), {}],
    ['a part without a name', () => bad([{ disposition: 'form-data', content: 'x' }]), {}],
    ['another disposition', () => bad([{ disposition: 'attachment; name="a"', content: 'x' }]), {}],
    ['an unclosed quote', () => bad([{ disposition: 'form-data; name="a', content: 'x' }]), {}],
    ['a repeated parameter', () => bad([{ disposition: 'form-data; name="a"; name="b"', content: 'x' }]), {}],
    [
      'a repeated header',
      () =>
        bad([
          { disposition: 'form-data; name="a"', headers: ['content-disposition: form-data; name="b"'], content: 'x' },
        ]),
      {},
    ],
    ['a folded header', () => bad([{ disposition: 'form-data;\r\n name="a"', content: 'x' }]), {}],
    ['a NUL in a name', () => bad([text('a\u0000b', 'x')]), {}],
    ['a line break in a file name', () => bad([attachment('x', 'a\nb')]), {}],
    [
      'filename* that is not percent-encoded',
      () => bad([{ disposition: 'form-data; name="attachment"; filename*=UTF-8\'\'%zz', content: 'x' }]),
      {},
    ],
    [
      'filename* without a charset',
      () => bad([{ disposition: 'form-data; name="attachment"; filename*=x', content: 'x' }]),
      {},
    ],
    [
      'an encoded part',
      () =>
        bad([{ disposition: 'form-data; name="a"', headers: ['Content-Transfer-Encoding: base64'], content: 'eA==' }]),
      {},
    ],
    ['text in another charset', () => bad([{ ...text('a', 'x'), type: 'text/plain; charset=utf-16' }]), { path: 'a' }],
    [
      'text that is not UTF-8',
      () => bad([{ disposition: 'form-data; name="a"', content: Buffer.from([0xff, 0xfe]) }]),
      { path: 'a' },
    ],
    ['headers of more than 8 KiB', () => bad([{ ...text('a', 'x'), headers: [`X-Long: ${'y'.repeat(8200)}`] }]), {}],
  ])('%s', async (_, work, details) => {
    expect(await refusal(work())).toMatchObject({ code: 'INVALID_INPUT', status: 400, ...details })
  })

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
    'multipart/form-data; boundary="a\u00e9"',
  ])('content-type %s', async (type) => {
    const request = formRequest(rawForm([text('a', 'b')]), { headers: { 'content-type': type } })
    expect(await refusal(readMultipart(request))).toMatchObject({ code: 'INVALID_INPUT', status: 400 })
  })

  test('a sender that disconnects', async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(rawForm([attachment('hello')]).subarray(0, 50))
        controller.error(new Error('aborted'))
      },
    })
    expect(await refusal(readMultipart(formRequest(body)))).toMatchObject({ code: 'INVALID_INPUT', status: 400 })
  })

  test('100 parts are accepted, 101 rejected, 50,000 rejected at once', async () => {
    const parts = (count: number) => rawForm(Array.from({ length: count }, (_, i) => text(`p${i}`, 'x')))
    expect((await read(parts(100))).texts.size).toBe(100)
    expect(await refusal(read(parts(101)))).toMatchObject({ code: 'INVALID_INPUT' })
    const many = parts(50_000)
    const took = await quickest(500, async () => expect(await refusal(read(many))).toMatchObject({ status: 400 }))
    expect(took).toBeLessThan(500)
  })

  test('hostile headers are cheap to reject', async () => {
    const hostile = [
      `form-data; ${'a="\\'.repeat(2000)}`,
      `form-data${' ;'.repeat(4000)}`,
      `form-data; name="${'\\'.repeat(8000)}`,
      `form-data; name=${' '.repeat(8000)}x`,
    ]
    const took = await quickest(500, async () => {
      for (const disposition of hostile) {
        expect(await refusal(read(rawForm([{ disposition, content: 'x' }])))).toMatchObject({ status: 400 })
      }
    })
    expect(took).toBeLessThan(500)
  })

  test('a damaged form is either parsed or rejected', async () => {
    const whole = rawForm([text('a', '1'), attachment('hello'), text('data', '{"b":2}')])
    for (let round = 0; round < 2000; round++) {
      const damaged = Buffer.from(whole)
      for (let i = 0; i < 3; i++) damaged[Math.floor(Math.random() * damaged.length)] = Math.floor(Math.random() * 256)
      await read(damaged).catch((err: unknown) => expect(err).toBeInstanceOf(AppError))
    }
  })
})

function randomBytes(most: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(Math.floor(Math.random() * most)))
}
