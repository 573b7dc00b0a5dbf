import { describe, expect, test } from 'vitest'
import { downloadHeaders } from '@/server/files/download-headers'
import { Sniffer, sniffType } from '@/server/files/sniff'

const latin = (text: string) => Buffer.from(text, 'latin1')
const PLAIN = 'text/plain; charset=utf-8'
const UNKNOWN = 'application/octet-stream'

describe('the type detected from the bytes', () => {
  const KNOWN: [string, Buffer, string][] = [
    ['PNG', latin('\x89PNG\r\n\x1a\n\x00\x00'), 'image/png'],
    ['JPEG', latin('\xff\xd8\xff\xe0\x00\x10JFIF'), 'image/jpeg'],
    ['GIF', latin('GIF89a\x01\x00'), 'image/gif'],
    ['WebP', latin('RIFF\x24\x00\x00\x00WEBPVP8 '), 'image/webp'],
    ['PDF', latin('%PDF-1.7\n'), 'application/pdf'],
    ['MP4', latin('\x00\x00\x00\x20ftypisom'), 'video/mp4'],
    ['gzip', latin('\x1f\x8b\x08\x00'), 'application/gzip'],
    ['zip', latin('PK\x03\x04\x14\x00a.txt'), 'application/zip'],
    [
      'docx',
      latin('PK\x03\x04..[Content_Types].xml..word/document.xml..PK\x01\x02'),
      expect.stringContaining('wordprocessingml'),
    ],
    ['JSON', latin(' {"a": [1]}'), 'application/json'],
    ['text', Buffer.from('naïve, text\r\n\ttab'), PLAIN],
    ['CSV', latin('a,b\n1,2\n'), PLAIN],
    ['text that only begins like JSON', latin('[note] x'), PLAIN],
    ['nothing', Buffer.alloc(0), UNKNOWN],
    ['binary', latin('\x00\x01\x02'), UNKNOWN],
    ['text in Latin-1', latin('na\xefve'), UNKNOWN],
  ]
  const inPieces = (bytes: Buffer, size: number) => {
    const sniffer = new Sniffer()
    for (let at = 0; at < bytes.byteLength; at += size) sniffer.push(bytes.subarray(at, at + size))
    return sniffer.end()
  }

  test.each(KNOWN)('%s', (_, bytes, type) => {
    expect(sniffType(bytes)).toEqual(type)
    for (const size of [1, 3, 7]) expect(inPieces(bytes, size)).toEqual(type)
  })

  test('is the same however the bytes of a long file are cut', () => {
    const space = ' '.repeat(9_000)
    const office = latin(`PK\x03\x04${space}_rels/.rels${space}xl/workbook.xml${space}PK\x01\x02`)
    const types: [Buffer, unknown][] = [
      [Buffer.from(`${space}naïve${space}`), PLAIN],
      [Buffer.from(`${space}{"a": "${space}é"}`), 'application/json'],
      [Buffer.from(`${space}x <script>${space}`), UNKNOWN],
      [Buffer.from(`${space}<p>${space}`), UNKNOWN],
      [Buffer.from(`${space}x <header>, <imgs>, <scripted>${space}`), PLAIN],
      [Buffer.from(`${space}x <img`), UNKNOWN],
      [Buffer.from(`${space}x <!DOCTYPE${space}`), UNKNOWN],
      [Buffer.from(`x${space}\u0001`), UNKNOWN],
      [Buffer.concat([Buffer.from(space), latin('na\xefve')]), UNKNOWN],
      [office, expect.stringContaining('spreadsheetml')],
      [latin(`PK\x03\x04${space}xl/workbook.xml${space}PK\x01\x02`), 'application/zip'],
      [latin(`%PDF-1.7${space}<script>`), 'application/pdf'],
    ]
    for (const [bytes, type] of types) {
      expect(sniffType(bytes)).toEqual(type)
      for (const size of [1, 5, 4_096, 9_001]) expect(inPieces(bytes, size)).toEqual(type)
    }
  })

  test('of a JSON text that is too long to be parsed is that of a text', () => {
    expect(inPieces(Buffer.from(`["${'x'.repeat(3 * 1024 * 1024)}"]`), 65_536)).toBe('application/json')
    expect(inPieces(Buffer.from(`["${'x'.repeat(5 * 1024 * 1024)}"]`), 65_536)).toBe(PLAIN)
  })

  test.each([
    '<!DOCTYPE html><p>x',
    '\ufeff  <html>',
    '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>',
    '<?xml version="1.0"?><svg/>',
    'hello <script>alert(1)</script>',
    'x\n<IMG SRC=x onerror=alert(1)>',
    '<p>x',
  ])('anything a browser might run has an unknown type: %j', (text) => {
    expect(sniffType(Buffer.from(text))).toBe(UNKNOWN)
  })
})

describe('the name of a download', () => {
  const disposition = (name: string) =>
    downloadHeaders({ id: 'the-id', name, sniffedType: PLAIN, sha256: 'x' })['content-disposition']

  test.each([
    ['../../etc/passwd', `attachment; filename="passwd"; filename*=UTF-8''passwd`],
    ['C:\\Users\\x\\a b.txt', `attachment; filename="a b.txt"; filename*=UTF-8''a%20b.txt`],
    ['a"\r\nSet-Cookie: x=1', `attachment; filename="a_Set-Cookie: x=1"; filename*=UTF-8''a%22Set-Cookie%3A%20x%3D1`],
    ['\u202etxt.exe\u0000', `attachment; filename="txt.exe"; filename*=UTF-8''txt.exe`],
    ['...', `attachment; filename="the-id"; filename*=UTF-8''the-id`],
    ['', `attachment; filename="the-id"; filename*=UTF-8''the-id`],
    ["it's (1)*.txt", `attachment; filename="it's (1)*.txt"; filename*=UTF-8''it%27s%20%281%29%2A.txt`],
    ['名.pdf', `attachment; filename="_.pdf"; filename*=UTF-8''%E5%90%8D.pdf`],
  ])('%j', (name, header) => {
    expect(disposition(name)).toBe(header)
  })

  test('is short, keeps its extension, and is always a valid header', () => {
    const long = disposition(`${'ä'.repeat(5000)}.pdf`)
    expect(long).toMatch(/\.pdf$/)
    expect(long?.length).toBeLessThan(1500)
    for (let code = 0; code < 0x3000; code++) {
      expect(() => new Headers({ d: disposition(`a${String.fromCharCode(code)}b`) ?? '' })).not.toThrow()
    }
    expect(() => disposition('\ud800')).not.toThrow()
  })
})
