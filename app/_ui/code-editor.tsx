'use client'
import { Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import type { CodeEditorProps } from './code-mirror'
import { inPlace, loadPart } from './part'

/** Loaded when first shown: it is larger than the rest of most screens. */
const CodeMirror = dynamic<CodeEditorProps>(
  () => loadPart(() => import('./code-mirror').then((module) => module.CodeMirror)),
  { ssr: false, loading: inPlace(<Skeleton height="100%" radius="md" />) },
)

/** A code field. Its height is set before its code loads, so that nothing below moves. */
export function CodeEditor(props: CodeEditorProps) {
  return (
    <div style={{ display: 'grid', minHeight: heightOf(props) }}>
      <CodeMirror {...props} />
    </div>
  )
}

/** In rem, as in `code-mirror.module.css` and the editor's own styles. */
const LINE = 1.3
const PADDING = 0.625

function heightOf({ value, minHeight, maxHeight, singleLine }: CodeEditorProps): string {
  const lines = `${value.split('\n').length * LINE + PADDING}rem`
  if (singleLine) return `${LINE + 0.75}rem`
  return `clamp(${minHeight ?? '6rem'}, ${lines}, ${maxHeight ?? '32rem'})`
}
