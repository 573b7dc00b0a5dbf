'use client'
import { json } from '@codemirror/lang-json'
import { unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import styles from './code-merge.module.css'

export interface CodeDiffProps {
  /** What assistive technology calls it. */
  label: string
  before: string
  after: string
}

/** One text above the other, line by line; what is the same is folded away. */
export function CodeMerge({ label, before, after }: CodeDiffProps) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!host.current) return
    const view = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: after,
        extensions: [
          lineNumbers(),
          json(),
          EditorView.lineWrapping,
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          // Reached by the keyboard, so that it can be scrolled.
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          unifiedMergeView({
            original: before,
            mergeControls: false,
            highlightChanges: true,
            syntaxHighlightDeletions: false,
            collapseUnchanged: { margin: 3, minSize: 6 },
          }),
        ],
      }),
    })
    return () => view.destroy()
  }, [label, before, after])
  return <div ref={host} className={styles.diff} />
}
