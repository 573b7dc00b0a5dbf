import { plainText } from '../definition/markdown/link'
import { readMarkdown } from '../definition/markdown/read'
import type { Block, Inline } from '../definition/markdown/tree'

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const INDENT = '    '

/**
 * Converts Markdown to Slack's syntax. A link shows its host if its text does not, as on our screens.
 * @param most characters, escapes included. A longer text stays unconverted and is cut.
 */
export function slackMarkdown(text: string, most: number): string {
  if (text.length >= most) return escaped(text, most)
  const written = blocks(readMarkdown(text)).join('\n\n')
  return written.length < most ? written : escaped(text, most)
}

/**
 * Escapes the three special characters of Slack's texts, so that a name can neither link nor mention people.
 * @param most characters, escapes included
 */
export function escaped(text: string, most: number): string {
  let written = ''
  for (const char of text) {
    const next = ESCAPES[char] ?? char
    if (written.length + next.length >= most) return `${written}…`
    written += next
  }
  return written
}

const plain = (text: string) => escaped(text, Number.POSITIVE_INFINITY)

function blocks(all: readonly Block[]): string[] {
  return all.map(block)
}

function block(one: Block): string {
  switch (one.kind) {
    case 'paragraph':
      return inlines(one.children)
    case 'heading':
      return `*${plain(plainText(one.children))}*`
    case 'list':
      return one.items.map((item, index) => entry(item, one.start === null ? '•' : `${one.start + index}.`)).join('\n')
    case 'quote':
      return blocks(one.children).join('\n\n').replace(/^/gm, '> ')
    case 'code':
      return `\`\`\`\n${plain(one.text)}\n\`\`\``
    case 'rule':
      return '———'
    case 'table':
      return [one.head, ...one.rows].map((row) => row.map(inlines).join(' | ')).join('\n')
  }
}

function entry(item: readonly Block[], mark: string): string {
  const [first = '', ...others] = blocks(item).flatMap((text) => text.split('\n'))
  return [`${mark} ${first}`, ...others.map((line) => INDENT + line)].join('\n')
}

function inlines(pieces: readonly Inline[]): string {
  return pieces.map(inline).join('')
}

function inline(piece: Inline): string {
  switch (piece.kind) {
    case 'text':
      return plain(piece.text)
    case 'code':
      return `\`${plain(piece.text)}\``
    case 'break':
      return '\n'
    case 'strong':
      return `*${inlines(piece.children)}*`
    case 'em':
      return `_${inlines(piece.children)}_`
    case 'del':
      return `~${inlines(piece.children)}~`
    case 'link': {
      const link = `<${plain(piece.href).replaceAll('|', '%7C')}|${plain(plainText(piece.children)).replace(/\s+/g, ' ')}>`
      return piece.host === null ? link : `${link} (${plain(piece.host)})`
    }
  }
}
