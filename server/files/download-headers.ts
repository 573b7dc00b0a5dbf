import type { FileRow } from './find'

const MAX_NAME = 150

/** Headers that make a browser save an untrusted file and never display it. */
export function downloadHeaders(file: Pick<FileRow, 'id' | 'name' | 'sniffedType' | 'sha256'>): Record<string, string> {
  const name = shownName(file)
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  return {
    'content-type': file.sniffedType,
    'content-disposition': `attachment; filename="${ascii}"; filename*=UTF-8''${encodeExtended(name)}`,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    // Another site cannot show it either, not even as an image.
    'cross-origin-resource-policy': 'same-origin',
    etag: `"${file.sha256}"`,
  }
}

/** The name that people see: that of a download. */
export function shownName({ id, name }: Pick<FileRow, 'id' | 'name'>): string {
  return safeName(name) || id
}

/** The last part of a path, without characters that could end a header or reverse the reading direction. */
function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ''
  const shown = last.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '').replace(/^[\s.]+|[\s.]+$/g, '')
  const characters = [...shown]
  if (characters.length <= MAX_NAME) return shown
  const ending = /\.[^.]{1,16}$/.exec(shown)?.[0] ?? ''
  return characters.slice(0, MAX_NAME - ending.length).join('') + ending
}

/** RFC 8187 */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
