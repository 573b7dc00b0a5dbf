import { linkOf } from './link'
import type { Inline } from './tree'

/** Deeper marks stay text, so that no text can make a page of a thousand nested elements. */
const MAX_NESTED = 20

type Mark = '*' | '**' | '_' | '__' | '~~'

const KINDS = { '*': 'em', _: 'em', '**': 'strong', __: 'strong', '~~': 'del' } as const satisfies Record<Mark, string>

interface Frame {
  /** The mark that opened it; null for the outermost. */
  mark: Mark | null
  children: Inline[]
}

/** The pieces of some lines that belong together. Line breaks are preserved, as people who write no Markdown expect. */
export function readInline(text: string, nested = 0): Inline[] {
  const frames: Frame[] = [{ mark: null, children: [] }]
  const brackets = closingBrackets(text)
  /** Lengths of runs of backticks that have no partner further on. */
  const open = new Set<number>()
  const top = () => frames[frames.length - 1] as Frame
  const put = (piece: Inline) => {
    const { children } = top()
    const last = children[children.length - 1]
    if (piece.kind === 'text' && last?.kind === 'text') last.text += piece.text
    else children.push(piece.kind === 'text' ? { ...piece } : piece)
  }
  let at = 0
  while (at < text.length) {
    const char = text[at] as string
    if (char === '\\' && ESCAPABLE.test(text[at + 1] ?? '')) {
      put({ kind: 'text', text: text[at + 1] as string })
      at += 2
      continue
    }
    if (char === '\n') {
      put({ kind: 'break' })
      at += 1
      continue
    }
    const found =
      char === '`'
        ? codeAt(text, at, open)
        : char === '['
          ? linkAt(text, at, brackets, nested)
          : char === '!' && text[at + 1] === '['
            ? linkAt(text, at + 1, brackets, nested)
            : nested === 0 && (char === '<' || char === 'h' || char === 'H')
              ? addressAt(text, at)
              : null
    if (found) {
      put(found.piece)
      at = found.end
      continue
    }
    if (char === '*' || char === '_' || char === '~') {
      const run = runOf(text, at, char)
      mark(frames, put, text, at, run)
      at += run
      continue
    }
    put({ kind: 'text', text: char })
    at += 1
  }
  while (frames.length > 1) giveUp(frames)
  return top().children
}

const ESCAPABLE = /^[!-/:-@[-`{-~]$/
const SPACE = /^\s?$/u
const PUNCTUATION = /^[\p{P}\p{S}]$/u

function runOf(text: string, at: number, char: string): number {
  let end = at
  while (text[end] === char) end += 1
  return end - at
}

/** Opens or closes everything that a run of one mark can open or close. */
function mark(frames: Frame[], put: (piece: Inline) => void, text: string, at: number, run: number) {
  const char = text[at] as string
  const [before, after] = [text[at - 1] ?? '', text[at + run] ?? '']
  const leads = !SPACE.test(after) && (!PUNCTUATION.test(after) || SPACE.test(before) || PUNCTUATION.test(before))
  const trails = !SPACE.test(before) && (!PUNCTUATION.test(before) || SPACE.test(after) || PUNCTUATION.test(after))
  // In the middle of a word, as in `snake_case`, it is no mark.
  const opens = char === '_' ? leads && (!trails || PUNCTUATION.test(before)) : leads
  const closes = char === '_' ? trails && (!leads || PUNCTUATION.test(after)) : trails
  let left = run
  if (char === '~' && run !== 2) {
    put({ kind: 'text', text: char.repeat(run) })
    return
  }
  while (left > 0 && closes) {
    const closed = close(frames, put, char, left)
    if (closed === 0) break
    left -= closed
  }
  while (left > 0 && opens && frames.length <= MAX_NESTED) {
    const size = left % 2 === 1 && char !== '~' ? 1 : 2
    frames.push({ mark: char.repeat(size) as Mark, children: [] })
    left -= size
  }
  if (left > 0) put({ kind: 'text', text: char.repeat(left) })
}

/** @returns how many characters of the run were used */
function close(frames: Frame[], put: (piece: Inline) => void, char: string, left: number): number {
  const wanted = [char.repeat(Math.min(left, 2)), char]
  for (const one of wanted) {
    const depth = frames.findLastIndex(({ mark, children }) => mark === one && children.length > 0)
    if (depth <= 0) continue
    while (frames.length - 1 > depth) giveUp(frames)
    const { children } = frames.pop() as Frame
    put({ kind: KINDS[one as Mark], children })
    return one.length
  }
  return 0
}

/** A mark that was opened but never closed is text. */
function giveUp(frames: Frame[]) {
  const { mark, children } = frames.pop() as Frame
  const around = (frames[frames.length - 1] as Frame).children
  const [first, ...rest] = children
  const last = around[around.length - 1]
  const opened = mark ?? ''
  const text = first?.kind === 'text' ? opened + first.text : opened
  if (last?.kind === 'text') last.text += text
  else around.push({ kind: 'text', text })
  around.push(...(first?.kind === 'text' ? rest : children))
}

interface Found {
  piece: Inline
  end: number
}

function codeAt(text: string, at: number, open: Set<number>): Found | null {
  const run = runOf(text, at, '`')
  const whole = { piece: { kind: 'text' as const, text: '`'.repeat(run) }, end: at + run }
  if (open.has(run)) return whole
  let from = at + run
  while (from < text.length) {
    const next = text.indexOf('`', from)
    if (next < 0) break
    const length = runOf(text, next, '`')
    if (length === run) {
      const code = text.slice(at + run, next).replaceAll('\n', ' ')
      const padded = code.startsWith(' ') && code.endsWith(' ') && code.trim() !== ''
      return { piece: { kind: 'code', text: padded ? code.slice(1, -1) : code }, end: next + length }
    }
    from = next + length
  }
  open.add(run)
  return whole
}

/** The position of the `]` for each `[`. */
function closingBrackets(text: string): Map<number, number> {
  const found = new Map<number, number>()
  const stack: number[] = []
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (char === '\\') at += 1
    else if (char === '[') stack.push(at)
    else if (char === ']') {
      const from = stack.pop()
      if (from !== undefined) found.set(from, at)
    }
  }
  return found
}

/** The address, followed by an optional title that is not shown. Both are bounded, so that one pass reads a text. */
const TARGET =
  /\(\s{0,10}<?([^\s<>()]{1,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,500})?)>?(?:\s{1,10}"[^"\n]{0,300}")?\s{0,10}\)/y

/** `[text](address)`. An image becomes a link to it: reading a text must not load anything from elsewhere. */
function linkAt(text: string, at: number, brackets: Map<number, number>, nested: number): Found | null {
  const to = brackets.get(at)
  if (to === undefined || nested > 0) return null
  TARGET.lastIndex = to + 1
  const [whole, address = ''] = TARGET.exec(text) ?? []
  if (whole === undefined) return null
  const words = text.slice(at + 1, to)
  const piece = linkOf(address, words.trim() === '' ? [] : readInline(words, nested + 1))
  return piece && { piece, end: to + 1 + whole.length }
}

const BRACKETED = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/iy
const BARE = /https?:\/\/[^\s<>"`]{1,2000}/iy

/** `<https://…>`, or a bare address. */
function addressAt(text: string, at: number): Found | null {
  if (text[at] === '<') {
    BRACKETED.lastIndex = at
    const [whole, address = ''] = BRACKETED.exec(text) ?? []
    const piece = whole === undefined ? null : linkOf(address, [])
    return piece && { piece, end: at + (whole?.length ?? 0) }
  }
  if (/\w/.test(text[at - 1] ?? '')) return null
  BARE.lastIndex = at
  const [whole] = BARE.exec(text) ?? []
  if (whole === undefined) return null
  // The punctuation that ends a sentence is not part of the address in it; the bracket around it is not either.
  const cut = whole.replace(/[.,:;!?'*_~\])}]{1,20}$/, (tail) =>
    tail.startsWith(')') && whole.slice(0, -tail.length).includes('(') ? ')' : '',
  )
  const piece = linkOf(cut, [])
  return piece && { piece, end: at + cut.length }
}
