import { createElement, Fragment, type ReactNode, useMemo } from 'react'
import { readMarkdown } from '@/server/definition/markdown/read'
import type { Block, Inline } from '@/server/definition/markdown/tree'
import { FilesOfText, WithFileNames } from './files/file-value'
import styles from './markdown.module.css'

/**
 * Renders users' Markdown. HTML becomes text, images become links, and links show their target. Files that it names
 * follow it.
 * @param props.under the level of the heading above it
 * @param props.beside what else is shown, with its files
 */
export function Markdown({ text, under = 2, beside }: { text: string; under?: number; beside?: unknown }) {
  const blocks = useMemo(() => readMarkdown(text), [text])
  return (
    <>
      <div className={styles.text}>{blocksOf(blocks, under)}</div>
      <FilesOfText text={text} beside={beside} />
    </>
  )
}

function blocksOf(blocks: readonly Block[], under: number): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: a text's blocks have no identity of their own
  return blocks.map((block, index) => <Fragment key={index}>{blockOf(block, under)}</Fragment>)
}

function blockOf(block: Block, under: number): ReactNode {
  switch (block.kind) {
    case 'paragraph':
      return <p>{inlineOf(block.children)}</p>
    case 'heading':
      return createElement(`h${Math.min(6, under + block.level)}`, {}, inlineOf(block.children))
    case 'quote':
      return <blockquote>{blocksOf(block.children, under)}</blockquote>
    case 'code':
      return (
        <pre>
          <code>{block.text}</code>
        </pre>
      )
    case 'rule':
      return <hr />
    case 'list': {
      const items = block.items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a text's items have no identity of their own
        <li key={index}>{itemOf(item, under)}</li>
      ))
      return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>
    }
    case 'table':
      return (
        <div className={styles.table}>
          <table>
            <thead>
              <tr>{cellsOf(block, block.head, 'th')}</tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a table's rows have no identity of their own
                <tr key={index}>{cellsOf(block, row, 'td')}</tr>
              ))}
            </tbody>
          </table>
        </div>
      )
  }
}

/** An item's single paragraph stands beside its marker, without a paragraph's margins. */
function itemOf(item: readonly Block[], under: number): ReactNode {
  const [first, ...rest] = item
  if (first?.kind !== 'paragraph') return blocksOf(item, under)
  return (
    <>
      {inlineOf(first.children)}
      {blocksOf(rest, under)}
    </>
  )
}

function cellsOf({ align }: Extract<Block, { kind: 'table' }>, cells: readonly Inline[][], tag: 'th' | 'td') {
  return cells.map((cell, index) =>
    createElement(tag, { key: index, ...(align[index] ? { style: { textAlign: align[index] } } : {}) }, inlineOf(cell)),
  )
}

function inlineOf(pieces: readonly Inline[]): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: a line's pieces have no identity of their own
  return pieces.map((piece, index) => <Fragment key={index}>{pieceOf(piece)}</Fragment>)
}

function pieceOf(piece: Inline): ReactNode {
  switch (piece.kind) {
    case 'text':
      return <WithFileNames text={piece.text} />
    case 'break':
      return <br />
    case 'code':
      return (
        <code>
          <WithFileNames text={piece.text} />
        </code>
      )
    case 'link':
      return (
        <>
          <a href={piece.href} target="_blank" rel="noopener noreferrer nofollow ugc">
            {inlineOf(piece.children)}
          </a>
          {piece.host !== null && <span className={styles.host}> ({piece.host})</span>}
        </>
      )
    default:
      return createElement(piece.kind, {}, inlineOf(piece.children))
  }
}
