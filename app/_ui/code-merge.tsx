'use client'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import styles from './code-merge.module.css'

export interface CodeDiffProps {
  /** The accessible name. */
  label: string
  before: string
  after: string
  language?: 'json' | 'javascript' | 'text'
  /** The names of both sides, which stand beside each other where there is room. */
  beside?: { before: string; now: string }
}

const LANGUAGES = { json: () => [json()], javascript: () => [javascript()], text: () => [] } satisfies Record<
  string,
  () => Extension[]
>
const SHOWN = { highlightChanges: true, collapseUnchanged: { margin: 3, minSize: 6 } }
/** Narrower than this, both sides beside each other would be hard to read. */
const ROOM = 560

function extensionsOf(label: string, language: keyof typeof LANGUAGES): Extension[] {
  return [
    lineNumbers(),
    ...LANGUAGES[language](),
    EditorView.lineWrapping,
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    // Focusable for scrolling by keyboard.
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  ]
}

/** Compares two texts by line and word, with unchanged parts folded. */
export function CodeMerge({ label, before, after, language = 'json', beside }: CodeDiffProps) {
  const host = useRef<HTMLDivElement>(null)
  const [left, right] = [beside?.before ?? null, beside?.now ?? null]
  useEffect(() => {
    const parent = host.current
    if (!parent) return
    if (left !== null && right !== null && parent.clientWidth >= ROOM) {
      const side = (doc: string, name: string) => ({ doc, extensions: extensionsOf(`${label}, ${name}`, language) })
      const both = new MergeView({ parent, a: side(before, left), b: side(after, right), ...SHOWN })
      return () => both.destroy()
    }
    const unified = unifiedMergeView({
      original: before,
      mergeControls: false,
      syntaxHighlightDeletions: false,
      ...SHOWN,
    })
    const view = new EditorView({
      parent,
      state: EditorState.create({ doc: after, extensions: [...extensionsOf(label, language), unified] }),
    })
    return () => view.destroy()
  }, [label, before, after, language, left, right])
  return <div ref={host} className={styles.diff} />
}
