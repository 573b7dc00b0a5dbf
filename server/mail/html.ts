import { readMarkdown } from '../definition/markdown/read'
import type { Block, Inline } from '../definition/markdown/tree'

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
}

export function paragraph(html: string): string {
  return `<p style="margin:0 0 12px">${html}</p>`
}

/** Renders a person's Markdown as simple HTML that all mail programs show alike. It loads nothing. */
export function htmlOf(markdown: string): string {
  return readMarkdown(markdown).map(blockHtml).join('\n')
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
      return paragraph(inlineHtml(block.children))
    case 'heading':
      return `<h3 style="font-size:16px;margin:0 0 8px">${inlineHtml(block.children)}</h3>`
    case 'quote':
      return `<blockquote style="margin:0 0 12px;padding-left:12px;border-left:3px solid #ddd;color:#555">${block.children.map(blockHtml).join('')}</blockquote>`
    case 'code':
      return `<pre style="margin:0 0 12px;padding:10px;background:#f4f4f4;white-space:pre-wrap">${escaped(block.text)}</pre>`
    case 'rule':
      return '<hr style="border:0;border-top:1px solid #ddd;margin:0 0 12px">'
    case 'list': {
      const tag = block.start === null ? 'ul' : 'ol'
      const start = block.start === null || block.start === 1 ? '' : ` start="${block.start}"`
      const items = block.items.map((item) => `<li>${item.map(itemHtml).join('')}</li>`)
      return `<${tag}${start} style="margin:0 0 12px;padding-left:24px">${items.join('')}</${tag}>`
    }
    case 'table':
      return tableHtml(block)
  }
}

function itemHtml(block: Block, index: number): string {
  return block.kind === 'paragraph' && index === 0 ? inlineHtml(block.children) : blockHtml(block)
}

function tableHtml({ head, rows, align }: Extract<Block, { kind: 'table' }>): string {
  const row = (cells: readonly Inline[][], tag: 'th' | 'td') =>
    cells
      .map((cell, index) => {
        const side = align[index] ?? 'left'
        return `<${tag} style="text-align:${side};padding:4px 12px 4px 0;border-bottom:1px solid #ddd">${inlineHtml(cell)}</${tag}>`
      })
      .join('')
  const body = rows.map((cells) => `<tr>${row(cells, 'td')}</tr>`).join('')
  return `<table style="border-collapse:collapse;margin:0 0 12px"><tr>${row(head, 'th')}</tr>${body}</table>`
}

function inlineHtml(pieces: readonly Inline[]): string {
  return pieces
    .map((piece) => {
      switch (piece.kind) {
        case 'text':
          return escaped(piece.text)
        case 'break':
          return '<br>'
        case 'code':
          return `<code>${escaped(piece.text)}</code>`
        case 'link': {
          const host = piece.host === null ? '' : ` (${escaped(piece.host)})`
          return `<a href="${escaped(piece.href)}" rel="noopener noreferrer nofollow">${inlineHtml(piece.children)}</a>${host}`
        }
        default:
          return `<${piece.kind}>${inlineHtml(piece.children)}</${piece.kind}>`
      }
    })
    .join('')
}
