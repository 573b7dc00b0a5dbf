import type { Inline } from './tree'

const SAFE = new Set(['http:', 'https:', 'mailto:'])

/** A link, or null if its address is not allowed: a script, or a path that would mean something else everywhere. */
export function linkOf(address: string, words: Inline[]): Inline | null {
  if (!URL.canParse(address)) return null
  const url = new URL(address)
  if (!SAFE.has(url.protocol)) return null
  // Readers misjudge `https://bank.example@evil.example`, and letters that look like others.
  const honest = url.protocol === 'mailto:' || beginsWith(address, url.origin)
  url.username = ''
  url.password = ''
  const shown = url.protocol === 'mailto:' ? decoded(url.pathname) : decoded(address)
  const children: Inline[] = words.length > 0 ? words : [{ kind: 'text', text: shown }]
  const place = url.protocol === 'mailto:' ? shown : url.host
  const said = plainText(children).toLowerCase()
  // The words may name another place, so they count only if they are the address itself.
  const plain =
    (honest && said === shown.toLowerCase()) || said === place.toLowerCase() || said === url.href.toLowerCase()
  return { kind: 'link', href: url.href, host: plain ? null : place, children }
}

/** Whether an address spells out its origin, followed by a path or nothing. */
function beginsWith(address: string, origin: string): boolean {
  const rest = address.toLowerCase().startsWith(origin) ? address.slice(origin.length) : null
  return rest !== null && /^(?:$|[/?#])/.test(rest)
}

function decoded(text: string): string {
  try {
    const read = decodeURI(text)
    // Invisible characters, and those that change the reading direction, stay encoded.
    return /[\s\p{Cc}\p{Cf}]/u.test(read) ? text : read
  } catch {
    return text
  }
}

/** The text of some pieces, without their marks. */
export function plainText(pieces: readonly Inline[]): string {
  return pieces
    .map((piece) => (piece.kind === 'break' ? ' ' : 'children' in piece ? plainText(piece.children) : piece.text))
    .join('')
}
