import { readInline } from './inline'
import type { Align, Block } from './tree'

/** Deeper lists and quotes stay text. */
const MAX_NESTED = 6

/**
 * Reads the Markdown that people write in messages: paragraphs, headings, lists, quotes, tables, code, rules, emphasis
 * and links. Anything else, such as HTML, stays text. Reading takes time in proportion to the length.
 *
 * Our own: mdast-util-from-markdown with GFM is 24 kB in the browser, compressed, and this is 3 kB.
 */
export function readMarkdown(text: string): Block[] {
  return readBlocks(text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').replaceAll('\t', '    ').split('\n'), 0)
}

function readBlocks(lines: readonly string[], nested: number): Block[] {
  const blocks: Block[] = []
  let at = 0
  const line = (index: number) => lines[index] ?? ''
  while (at < lines.length) {
    const here = line(at)
    if (here.trim() === '') {
      at += 1
      continue
    }
    const fence = fenceOf(here)
    if (fence) {
      let end = at + 1
      while (end < lines.length && !closesFence(line(end), fence)) end += 1
      blocks.push({ kind: 'code', text: lines.slice(at + 1, end).join('\n') })
      at = end + 1
      continue
    }
    const heading = headingOf(here)
    if (heading) {
      blocks.push(heading)
      at += 1
      continue
    }
    if (isRule(here)) {
      blocks.push({ kind: 'rule' })
      at += 1
      continue
    }
    if (isQuote(here) && nested < MAX_NESTED) {
      let end = at
      while (end < lines.length && isQuote(line(end))) end += 1
      const inside = lines.slice(at, end).map((one) => one.trimStart().slice(1).replace(/^ /, ''))
      blocks.push({ kind: 'quote', children: readBlocks(inside, nested + 1) })
      at = end
      continue
    }
    const item = itemOf(here)
    if (item && nested < MAX_NESTED) {
      const { list, end } = readList(lines, at, item, nested)
      blocks.push(list)
      at = end
      continue
    }
    const table = tableAt(lines, at)
    if (table) {
      blocks.push(table.block)
      at = table.end
      continue
    }
    let end = at + 1
    while (end < lines.length && !endsParagraph(line(end), nested)) end += 1
    const words = lines
      .slice(at, end)
      .map((one) => one.trim())
      .join('\n')
    blocks.push({ kind: 'paragraph', children: readInline(words) })
    at = end
  }
  return blocks
}

function indentOf(line: string): number {
  let at = 0
  while (line[at] === ' ') at += 1
  return at
}

function fenceOf(line: string): string | null {
  const text = line.trimStart()
  const mark = text.startsWith('```') ? '`' : text.startsWith('~~~') ? '~' : null
  if (mark === null) return null
  let size = 0
  while (text[size] === mark) size += 1
  return mark === '`' && text.slice(size).includes('`') ? null : mark.repeat(size)
}

function closesFence(line: string, fence: string): boolean {
  const text = line.trim()
  return text.length >= fence.length && text === (fence[0] as string).repeat(text.length)
}

function headingOf(line: string): Block | null {
  const text = line.trim()
  let level = 0
  while (text[level] === '#') level += 1
  if (level === 0 || level > 6 || (text.length > level && text[level] !== ' ')) return null
  let end = text.length
  while (end > level && text[end - 1] === '#') end -= 1
  const words = text.slice(level, end === level || text[end - 1] === ' ' ? end : text.length).trim()
  return words === '' ? null : { kind: 'heading', level, children: readInline(words) }
}

function isRule(line: string): boolean {
  const text = line.replaceAll(' ', '')
  const [first = ''] = text
  return text.length >= 3 && '-*_'.includes(first) && text === first.repeat(text.length)
}

function isQuote(line: string): boolean {
  return line.trimStart().startsWith('>')
}

interface Item {
  /** The number of an ordered list's item. */
  number: number | null
  /** The marker that all items of one list share. */
  mark: string
  /** The column where its text begins. */
  indent: number
}

function itemOf(line: string): Item | null {
  const lead = indentOf(line)
  const rest = line.slice(lead)
  const [mark = '', digits = ''] = /^(?:[-*+]|(\d{1,9})[.)])(?= |$)/.exec(rest) ?? []
  if (mark === '') return null
  const gap = indentOf(rest.slice(mark.length))
  return {
    number: digits === '' ? null : Number(digits),
    mark: digits === '' ? mark : mark.slice(-1),
    indent: lead + mark.length + (gap >= 1 && gap <= 4 ? gap : 1),
  }
}

function readList(lines: readonly string[], from: number, first: Item, nested: number) {
  const items: Block[][] = []
  const lead = indentOf(lines[from] ?? '')
  let at = from
  let item: Item | null = first
  while (item && item.mark === first.mark && indentOf(lines[at] ?? '') < lead + 2) {
    const inside = [(lines[at] ?? '').slice(item.indent)]
    let end = at + 1
    let blank = false
    for (; end < lines.length; end += 1) {
      const line = lines[end] ?? ''
      if (line.trim() === '') blank = true
      else if (indentOf(line) >= item.indent) blank = false
      // A line that continues the paragraph above it.
      else if (blank || itemOf(line) || endsParagraph(line, nested)) break
      inside.push(line.trim() === '' ? '' : line.slice(Math.min(indentOf(line), item.indent)))
    }
    items.push(readBlocks(inside, nested + 1))
    at = end
    item = at < lines.length ? itemOf(lines[at] ?? '') : null
  }
  return { list: { kind: 'list', start: first.number, items } as const satisfies Block, end: at }
}

function endsParagraph(line: string, nested: number): boolean {
  if (line.trim() === '' || fenceOf(line) !== null || headingOf(line) || isRule(line)) return true
  if (nested >= MAX_NESTED) return false
  if (isQuote(line)) return true
  const item = itemOf(line)
  // A line may begin with a number by chance.
  return item !== null && (item.number === null || item.number === 1)
}

/** A row gets as many cells as the table has columns, so without bounds a short text could become a huge table. */
const MAX_COLUMNS = 50
const MAX_CELLS = 2_000

function tableAt(lines: readonly string[], at: number): { block: Block; end: number } | null {
  const head = lines[at] ?? ''
  const under = (lines[at + 1] ?? '').trim()
  if (!head.includes('|') || !under.includes('-') || !/^[|:\- ]+$/.test(under)) return null
  const columns = cellsOf(under)
  const names = cellsOf(head)
  if (columns.length !== names.length || !columns.every((cell) => /^:?-+:?$/.test(cell))) return null
  if (columns.length > MAX_COLUMNS) return null
  const rows: string[][] = []
  let end = at + 2
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? ''
    if (line.trim() === '' || !line.includes('|') || (rows.length + 1) * columns.length >= MAX_CELLS) break
    rows.push(cellsOf(line))
  }
  const read = (cells: readonly string[]) => names.map((_, index) => readInline(cells[index] ?? ''))
  const block: Block = { kind: 'table', align: columns.map(alignOf), head: read(names), rows: rows.map(read) }
  return { block, end }
}

function cellsOf(line: string): string[] {
  const text = line.trim()
  const inner = text.slice(text.startsWith('|') ? 1 : 0, text.endsWith('|') && !text.endsWith('\\|') ? -1 : undefined)
  const cells = ['']
  for (let at = 0; at < inner.length; at += 1) {
    const char = inner[at] as string
    const pipe = char === '\\' && inner[at + 1] === '|'
    if (char === '|') cells.push('')
    else cells[cells.length - 1] += pipe ? '|' : char
    if (pipe) at += 1
  }
  return cells.map((cell) => cell.trim())
}

function alignOf(cell: string): Align {
  const [left, right] = [cell.startsWith(':'), cell.endsWith(':')]
  return left && right ? 'center' : right ? 'right' : left ? 'left' : null
}
