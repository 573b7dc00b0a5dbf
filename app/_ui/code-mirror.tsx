'use client'
import { autocompletion, type CompletionSource, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, lineNumbers, placeholder as placeholderText } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import styles from './code-mirror.module.css'

export interface CodeEditorProps {
  /** The accessible name, which should match any visible label. */
  label: string
  value: string
  onChange?: (value: string) => void
  language?: 'json' | 'javascript' | 'text'
  readOnly?: boolean
  placeholder?: string
  /** Marks in the text, by offset. */
  diagnostics?: Diagnostic[]
  completions?: CompletionSource
  minHeight?: string
  maxHeight?: string
  /** A single line, like an input: no line numbers, and Enter does nothing. */
  singleLine?: boolean
  describedBy?: string
}

/** The product's only code field. Tab leaves it, so that it never traps keyboard users. */
export function CodeMirror(props: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const latest = useRef(props)
  latest.current = props
  const { value, diagnostics, label, describedBy, readOnly } = props

  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; later changes go through the view
  useEffect(() => {
    if (!host.current) return
    const made = new EditorView({
      parent: host.current,
      state: EditorState.create({ doc: value, extensions: extensionsOf(latest) }),
    })
    view.current = made
    return () => {
      made.destroy()
      view.current = null
    }
  }, [readOnly, label, describedBy])

  useEffect(() => {
    const shown = view.current
    if (!shown || shown.state.doc.toString() === value) return
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: value } })
  }, [value])

  useEffect(() => {
    const shown = view.current
    if (!shown) return
    const length = shown.state.doc.length
    const inside = (diagnostics ?? []).map((it) => ({
      ...it,
      from: Math.min(it.from, length),
      to: Math.min(it.to, length),
    }))
    shown.dispatch(setDiagnostics(shown.state, inside))
  }, [diagnostics])

  return (
    <div
      ref={host}
      className={`${styles.editor} ${props.singleLine ? styles.single : ''} ${readOnly ? styles.fixed : ''}`}
    />
  )
}

function extensionsOf(latest: { current: CodeEditorProps }): Extension[] {
  const {
    label,
    language = 'text',
    readOnly,
    placeholder,
    completions,
    minHeight,
    maxHeight,
    singleLine,
    describedBy,
  } = latest.current
  return [
    history(),
    bracketMatching(),
    indentOnInput(),
    keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
    syntaxHighlighting(highlight),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      'aria-label': label,
      // Set explicitly for accessibility checkers that consider editable regions unfocusable.
      tabindex: '0',
      ...(describedBy ? { 'aria-describedby': describedBy } : {}),
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) latest.current.onChange?.(update.state.doc.toString())
    }),
    EditorView.theme({
      '&': { minHeight: minHeight ?? (singleLine ? 'auto' : '6rem'), maxHeight: maxHeight ?? '32rem' },
      '.cm-content': { minHeight: minHeight ?? (singleLine ? 'auto' : '6rem') },
    }),
    ...(language === 'json' ? [json()] : language === 'javascript' ? [javascript()] : []),
    ...(singleLine
      ? [EditorState.transactionFilter.of((tr) => (tr.newDoc.lines > 1 ? [] : tr))]
      : [lineNumbers(), lintGutter()]),
    ...(placeholder ? [placeholderText(placeholder)] : []),
    ...(completions ? [autocompletion({ override: [completions] })] : []),
    ...(readOnly ? [EditorState.readOnly.of(true)] : []),
  ]
}

const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.attributeName], color: 'light-dark(#0b6f8a, #6dd0e6)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'light-dark(#1b7240, #6bd097)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'light-dark(#8a4b00, #f0bd5a)' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: 'light-dark(#6a3fb5, #c3a6ff)' },
  { tag: [tags.comment], color: 'var(--mantine-color-dimmed)', fontStyle: 'italic' },
])
